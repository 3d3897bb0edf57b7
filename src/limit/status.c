/* SPDX-License-Identifier: MIT */
/* status.c - see status.h. */
#include "status.h"

#include "duration.h"
#include "json.h"
#include "names.h"
#include "process.h"
#include "progress.h"
#include "tidy.h"
#include "turn.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_USERS = 2048, COMMAND_SIZE = 200 };

/* ---- As a table ---- */

static void print_since(time_t since)
{
    time_t now = time(NULL);
    char today[20], text[20];
    struct tm tm;

    localtime_r(&now, &tm);
    strftime(today, sizeof today, "%Y-%m-%d", &tm);
    localtime_r(&since, &tm);
    strftime(text, sizeof text, "%Y-%m-%d", &tm);
    if (strcmp(text, today) == 0)
        strftime(text, sizeof text, "%H:%M:%S", &tm);
    printf("  %10s", text);
}

/*
 * The process ID in the table is the one that the process itself knows, and its messages have.  A
 * terminal obeys control characters.
 */
static void print_command(const fairsem_shared_user_t *user)
{
    char text[COMMAND_SIZE];
    size_t length = process_command(user, text, sizeof text);

    for (size_t i = 0; i < length; i++)
        memset(text + i, ' ', (size_t)control_length(text + i));
    if (user->local_pid == 0)
        puts("  (in another PID namespace)");
    else if (user->local_pid != user->pid)
        printf("  (here %" PRId64 ") %s\n", user->local_pid, text);
    else
        printf("  %s\n", text);
}

static void print_user(const fairsem_shared_user_t *user)
{
    char duration[DURATION_SIZE], place[30] = "running";

    if (user->place != 0)
        snprintf(place, sizeof place, "%" PRId64 "%s", user->place, ordinal_suffix(user->place));
    printf("  %-8s %8" PRId64 " %6" PRId64 " %9" PRId64, place, user->pid, user->units,
           user->priority);
    print_since(process_since(user));
    printf("  %12s", duration_text(user->ns, duration));
    print_command(user);
}

static void print_name(const struct name_status *name)
{
    int running = 0;

    for (int i = 0; i < name->count; i++)
        running += name->users[i].place == 0;
    printf("%s%s: limit %" PRId64 ", free %" PRId64 ", running %d, waiting %" PRId64 "\n",
           name->name, name->global ? " (all users)" : "", name->stat.capacity,
           name->stat.available, running, name->stat.waiters);
    if (name->count > 0)
        printf("  %-8s %8s %6s %9s  %10s  %12s  %s\n", "place", "pid", "units", "priority", "since",
               "for", "command");
    for (int i = 0; i < name->count; i++)
        print_user(&name->users[i]);
}

/* ---- Each name ---- */

/* What is printed, so far. */
struct output {
    bool json;
    bool first;         /* no name has been printed */
};

/* Returns an errno value. */
static int print_status_of(const char *name, bool global, struct output *output)
{
    static fairsem_shared_user_t users[MOST_USERS];
    struct name_status status = { .name = name, .global = global, .count = MOST_USERS,
                                  .users = users };
    char segment[SEGMENT_NAME_SIZE];
    fairsem_shared_t *slots;
    int error;

    name_of_segment(name, global, segment);
    error = fairsem_shared_open(&slots, segment, 0, 0, NULL);
    if (error != 0)
        return error;
    error = fairsem_shared_stat(slots, &status.stat);
    if (error == 0)
        error = fairsem_shared_users(slots, users, &status.count);
    fairsem_shared_close(slots);
    if (error != 0)
        return error;
    status.count = status.count < MOST_USERS ? status.count : MOST_USERS;
    if (output->json)
        json_name(stdout, &status, output->first);
    else
        print_name(&status);
    output->first = false;
    return 0;
}

static int print_one(const char *name, bool global, struct output *output)
{
    int error = print_status_of(name, global, output);

    if (error == 0)
        return 0;
    warnx("%s: %s", name, turn_error(error));
    return OWN_FAILURE;
}

static int print_all(struct output *output)
{
    struct listed *list = names_list();
    int result = 0;

    if (list == NULL) {
        warn("%s", names_directory());
        return OWN_FAILURE;
    }
    for (const struct listed *at = list; at->name != NULL; at++) {
        int error = print_status_of(at->name, at->global, output);

        /* Names of other users, and names that were removed at this moment, are no error. */
        if (error != 0 && error != EACCES && error != ENOENT) {
            warnx("%s: %s", at->name, turn_error(error));
            result = OWN_FAILURE;
        }
    }
    names_free(list);
    return result;
}

static int print_once(const struct request *request)
{
    struct output output = { .json = request->json, .first = true };
    int result;

    if (request->json)
        json_begin(stdout);
    else if (request->watch && isatty(STDOUT_FILENO))
        fputs("\033[H\033[J", stdout);
    result = request->name != NULL ? print_one(request->name, request->global, &output)
                                   : print_all(&output);
    if (request->json)
        json_end(stdout);
    return result;
}

int status_print(const struct request *request)
{
    for (;;) {
        int result = print_once(request);

        if (fflush(stdout) != 0 || ferror(stdout)) {
            warnx("standard output: %s", strerror(errno));
            return OWN_FAILURE;
        }
        if (!request->watch) {
            tidy_names(false);
            return result;
        }
        sleep(1);
    }
}
