/* SPDX-License-Identifier: MIT */
/* cluster_status.c - who runs and who waits; see cluster_name.h. */
#include "cluster_name.h"

#include "run/duration.h"
#include "output.h"
#include "table.h"

#include <err.h>
#include <errno.h>
#include <string.h>

enum { MOST_USERS = 32768 };

static void describe(const struct shown_name *name, int number, struct shown_user *shown,
                     char *text, size_t size)
{
    const fairsem_cluster_user_t *user = (const fairsem_cluster_user_t *)name->users + number;
    time_t now = time(NULL), since = (time_t)user->since;

    (void)text;
    (void)size;
    *shown = (struct shown_user){
        .place = user->place, .pid = user->pid, .units = user->units, .fence = user->fence,
        .priority = user->priority, .since = since, .host = user->host,
        .ns = since != 0 && now > since ? (int64_t)(now - since) * 1000000000 : 0,
        .command = user->program, .command_length = strlen(user->program),
    };
}

void cluster_status_gave_up(const struct cluster_name *name, bool answers)
{
    static fairsem_cluster_user_t users[MOST_USERS];
    const struct request *request = name->request;
    struct shown_name shown = { .name = request->name, .users = users, .describe = describe };
    size_t count = 0;

    if (request->quiet)
        return;
    if (!answers || fairsem_cluster_users(name->handle, users, MOST_USERS, &count) != 0) {
        char duration[DURATION_SIZE];

        warnx("%s: waited %s in vain; %s", shown.name, duration_text(request->wait_ns, duration),
              cluster_error(ENETUNREACH));
        return;
    }
    shown.count = count < MOST_USERS ? (int)count : MOST_USERS;
    table_gave_up(&shown, request);
}

static int print(struct output *output, const void *arg)
{
    static fairsem_cluster_user_t users[MOST_USERS];
    const struct cluster_name *name = arg;
    struct shown_name shown = { .name = name->request->name, .where = "etcd", .cluster = true,
                                .users = users, .describe = describe };
    size_t count = 0;
    int error = fairsem_cluster_limit(name->handle, &shown.limit), damage = 0;

    if (error == EPROTO) {      /* its key is damaged, if the others can be read */
        shown.limit = 0;
        damage = error;
    }
    if (error == 0 || damage != 0)
        error = fairsem_cluster_users(name->handle, users, MOST_USERS, &count);
    if (error == 0) {
        if (damage != 0)
            warnx("%s: the key 'limit' is damaged", name->request->name);
        shown.count = count < MOST_USERS ? (int)count : MOST_USERS;
        shown.free = shown.limit;
        for (int i = 0; i < shown.count; i++) {
            if (users[i].place != 0)
                continue;
            shown.running++;
            shown.free -= users[i].units > 0 ? users[i].units : 0;
        }
        shown.waiting = (int64_t)count - shown.running;
        output_name(output, &shown);
        error = damage;
    }
    return cluster_result(name, error);
}

int cluster_status_print(const struct cluster_name *name)
{
    return output_status(name->request, print, name);
}
