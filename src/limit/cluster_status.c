/* SPDX-License-Identifier: MIT */
/* cluster_status.c - running and waiting commands; see cluster_name.h. */
#include "cluster_name.h"

#include "run/printable.h"
#include "output.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void describe_cluster_user(const struct shown_name *name, int number, struct shown_user *shown,
                     char *text, size_t size)
{
    const fairsem_cluster_user_t *user = (const fairsem_cluster_user_t *)name->users + number;
    time_t now = time(NULL), since = (time_t)user->since;

    snprintf(text, size, "%s", user->program);
    *shown = (struct shown_user){
        .place = user->place, .pid = user->pid, .units = user->units, .fence = user->fence,
        .priority = user->priority, .since = since, .host = user->host,
        .ns = since != 0 && now > since ? (int64_t)(now - since) * 1000000000 : 0,
    };
}

/* List running and waiting commands.  shown->limit must be set, or 0 if unknown.  Returns an errno value. */
static int list_cluster_users(const struct cluster_name *name, struct shown_name *shown)
{
    static fairsem_cluster_user_t users[CLUSTER_USERS];
    size_t count = 0;
    int error = fairsem_cluster_users(name->handle, users, CLUSTER_USERS, &count);

    shown->users = users;
    shown->describe = describe_cluster_user;
    shown->count = count < CLUSTER_USERS ? (int)count : CLUSTER_USERS;
    shown->free = shown->limit;
    for (int i = 0; i < shown->count; i++) {
        if (users[i].place != 0)
            continue;
        shown->running++;
        shown->free -= users[i].units > 0 ? users[i].units : 0;
    }
    shown->waiting = (int64_t)count - shown->running;
    return error;
}

void cluster_status_gave_up(const struct cluster_name *name, bool answers)
{
    const struct request *request = name->request;
    struct shown_name shown = { .name = request->name };

    if (request->quiet)
        return;
    answers = answers && list_cluster_users(name, &shown) == 0;
    output_gave_up(request, &shown, answers ? NULL : cluster_error(ENETUNREACH));
}

/* Returns an errno value. */
static int print_cluster_name(const struct cluster_name *name)
{
    struct shown_name shown = { .name = name->name, .cluster = true };
    int damage = fairsem_cluster_limit(name->handle, &shown.limit);
    int error = damage == 0 || damage == EPROTO ? list_cluster_users(name, &shown) : damage;

    if (error != 0)
        return error;
    if (damage != 0)            /* the limit is damaged, but the users were read */
        warnx("%s: the key 'r-limit' is damaged", name->name);
    output_name(&shown);
    return damage;
}

static int print_one_of_cluster(const void *arg)
{
    return cluster_result(arg, print_cluster_name(arg));
}

static int print_all_of_cluster(const void *arg)
{
    char found[FAIRSEM_CLUSTER_NAME_MAX + 1] = "", text[sizeof found];
    const struct cluster_name *all = arg;
    struct cluster_name one = *all;
    int result = 0, error;

    one.name = text;
    while ((error = fairsem_cluster_next(all->handle, found)) == 0) {
        make_printable(strcpy(text, found));
        error = print_cluster_name(&one);
        if (error != 0 && error != ENOENT)      /* ENOENT: the name was just removed, or never made */
            result = cluster_result(&one, error);
    }
    if (error == EACCES)
        warnx("the names cannot be listed: etcd must let a user read all of fairsem/, not only one name");
    return error == ENOENT ? result : cluster_result(all, error);
}

int cluster_status_print(const struct cluster_name *name)
{
    return output_status(name->request,
                         name->request->name != NULL ? print_one_of_cluster : print_all_of_cluster, name);
}
