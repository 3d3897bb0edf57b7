/* SPDX-License-Identifier: MIT */
/* status.c - see status.h. */
#include "status.h"

#include "names.h"
#include "output.h"
#include "process.h"
#include "table.h"
#include "tidy.h"
#include "turn.h"

#include <err.h>
#include <errno.h>

enum { MOST_USERS = 2048 };

static void describe_user(const struct shown_name *name, int number, struct shown_user *shown,
                          char *text, size_t size)
{
    const fairsem_shared_user_t *user = (const fairsem_shared_user_t *)name->users + number;

    *shown = (struct shown_user){
        .place = user->place, .pid = user->pid, .local_pid = user->local_pid,
        .units = user->units, .priority = user->priority, .ns = user->ns,
        .since = process_since(user),
        .command = text, .command_length = process_command(user, text, size),
    };
}

/* ---- Each name ---- */

/* Returns an errno value. */
static int read_users(fairsem_shared_t *handle, struct shown_name *shown)
{
    static fairsem_shared_user_t users[MOST_USERS];
    int error;

    shown->count = MOST_USERS;
    error = fairsem_shared_users(handle, users, &shown->count);
    shown->count = shown->count < MOST_USERS ? shown->count : MOST_USERS;
    shown->users = users;
    shown->describe = describe_user;
    return error;
}

void status_gave_up(const struct request *request, const char *segment)
{
    struct shown_name shown = { .name = request->name };
    fairsem_shared_t *handle;

    if (request->quiet)
        return;
    if (fairsem_shared_open(&handle, segment, 0, 0, NULL) == 0) {
        if (read_users(handle, &shown) != 0)
            shown.count = 0;
        fairsem_shared_close(handle);
    }
    table_gave_up(&shown, request);
}

/* Returns an errno value. */
static int print_status_of(const char *name, bool global, struct output *output)
{
    struct shown_name shown = { .name = name, .where = global ? "all users" : NULL,
                                .global = global };
    fairsem_shared_stat_t stat;
    char segment[SEGMENT_NAME_SIZE];
    fairsem_shared_t *handle;
    int error;

    name_of_segment(name, global, segment);
    error = fairsem_shared_open(&handle, segment, 0, 0, NULL);
    if (error != 0)
        return error;
    error = fairsem_shared_stat(handle, &stat);
    if (error == 0)
        error = read_users(handle, &shown);
    fairsem_shared_close(handle);
    if (error != 0)
        return error;
    for (int i = 0; i < shown.count; i++)
        shown.running += ((const fairsem_shared_user_t *)shown.users)[i].place == 0;
    shown.limit = stat.capacity;
    shown.free = stat.available;
    shown.waiting = stat.waiters;
    output_name(output, &shown);
    return 0;
}

static int print_one(struct output *output, const void *arg)
{
    const struct request *request = arg;

    return turn_result(request->name, print_status_of(request->name, request->global, output));
}

static int print_all(struct output *output, const void *arg)
{
    struct listed *list = names_list();
    int result = 0;

    (void)arg;
    if (list == NULL) {
        warn("%s", names_directory());
        return OWN_FAILURE;
    }
    for (const struct listed *at = list; at->name != NULL; at++) {
        int error = print_status_of(at->name, at->global, output);

        /* Names of other users, and names that were removed at this moment, are no error. */
        if (error != 0 && error != EACCES && error != ENOENT)
            result = turn_result(at->name, error);
    }
    names_free(list);
    return result;
}

int status_print(const struct request *request)
{
    int result = output_status(request, request->name != NULL ? print_one : print_all, request);

    tidy_names(false);
    return result;
}
