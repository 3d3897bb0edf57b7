/* SPDX-License-Identifier: MIT */
/* status.c - see local.h. */
#include "local.h"

#include "output.h"
#include "process.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void describe_user(const struct shown_name *name, int number, struct shown_user *shown,
                          char *text, size_t size)
{
    const fairsem_shared_user_t *user = (const fairsem_shared_user_t *)name->users + number;

    *shown = (struct shown_user){
        .place = user->place, .pid = user->pid, .local_pid = user->local_pid,
        .units = user->units, .priority = user->priority, .ns = user->ns,
        .since = time(NULL) - (time_t)(user->ns / 1000000000),
    };
    process_command(user, text, size);
}

/* ---- Each name ---- */

/* Returns an errno value. */
static int read_users(const struct local_name *name, struct shown_name *shown)
{
    const fairsem_shared_user_t *users;
    int error = local_users(name, &users, &shown->count);

    shown->users = users;
    shown->describe = describe_user;
    for (int i = 0; i < shown->count; i++) {
        shown->running += users[i].place == 0;
        shown->waiting += users[i].place != 0;
    }
    return error;
}

int local_gave_up(struct local_name *name, int exit_status)
{
    struct shown_name shown = { .name = name->request->name };

    if (exit_status != TIMED_OUT)
        return exit_status;
    if (name->request->quiet)
        return (int)name->request->busy_status;
    if (local_open(name) == 0) {
        read_users(name, &shown);       /* on failure, `shown` has no users */
        fairsem_shared_close(name->handle);
    }
    output_gave_up(name->request, &shown, NULL);
    return (int)name->request->busy_status;
}

/* Returns an errno value. */
static int print_status_of(struct local_name *name)
{
    struct shown_name shown = { .name = name->request->name, .global = name->request->global };
    uint64_t counts[FAIRSEM_WAIT_BUCKETS];
    fairsem_shared_stat_t stat;
    int error = local_open(name);

    if (error != 0)
        return error;
    error = fairsem_shared_stat(name->handle, &stat);
    if (error == 0)
        error = fairsem_shared_stat_histogram(name->handle, counts);
    if (error == 0)
        error = read_users(name, &shown);
    fairsem_shared_close(name->handle);
    if (error != 0)
        return error;
    shown.limit = stat.capacity;
    shown.free = stat.available;
    shown.stat = &stat;
    shown.counts = counts;
    output_name(&shown);
    return 0;
}

static int print_one(const void *arg)
{
    struct local_name name = { .request = arg };

    return local_result(&name, print_status_of(&name));
}

/* Print in a child, which another user can kill with SIGBUS by truncating the file of a global name. */
static int print_in_child(struct local_name *name)
{
    pid_t child;
    int status;

    fflush(stdout);
    child = fork();
    if (child < 0)
        return errno;
    if (child == 0) {
        int error = print_status_of(name);

        fflush(stdout);
        _exit(error);
    }
    waitpid(child, &status, 0);
    if (!WIFEXITED(status))
        return ENOTRECOVERABLE;
    output_is_first = output_is_first && WEXITSTATUS(status) != 0;
    return WEXITSTATUS(status);
}

/*
 * Print the status of a name.  If another user owns the file, print only the owner, even if the name is global.
 */
static int print_any(const struct request *request)
{
    struct local_name name = { .request = request };
    const char *owner;
    int error;

    name_find(request->name, request->global, name.segment);
    owner = name_owner(name.segment);
    if (owner != NULL) {
        warnx("%s: %s belongs to %s%s%s", request->name, name.segment, owner,
              request->global ? "; see --global --status " : "", request->global ? request->name : "");
        return 0;
    }
    error = request->global ? print_in_child(&name) : print_status_of(&name);
    return error == ENOENT ? 0 : local_result(&name, error);     /* ENOENT: the name was just removed */
}

static int print_all(const void *arg)
{
    struct listed *list = names_list();
    struct request request = *(const struct request *)arg;
    int result = 0;

    if (list == NULL)
        return output_failure("%s: %s", names_directory(request.global), strerror(errno));
    for (const struct listed *at = list; *at->name != '\0'; at++) {
        /*
         * Skip gates.  An own name with a file in each of two directories has two entries, one after the other:
         * skip the first entry.
         */
        if (at->gate)
            continue;
        if (!at[1].gate && at[1].global == at->global && strcmp(at[1].name, at->name) == 0)
            continue;
        request.name = at->name;
        request.global = at->global;
        if (print_any(&request) != 0)
            result = OWN_FAILURE;
    }
    free(list);
    return result;
}

int status_print(const struct request *request)
{
    return output_status(request, request->name != NULL ? print_one : print_all, request);
}
