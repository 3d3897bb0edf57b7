/* SPDX-License-Identifier: MIT */
/* shown.h - the status of a name, of this machine or in etcd. */
#ifndef LIMIT_SHOWN_H
#define LIMIT_SHOWN_H

#include <fairsem/shared.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A command that runs or waits. */
struct shown_user {
    int64_t     place;          /* 0 if it runs */
    int64_t     pid;            /* in its own PID namespace */
    int64_t     local_pid;      /* in our PID namespace, or 0 if it is not visible there */
    int64_t     units, priority, fence;
    int64_t     ns;             /* how long it has run or waited */
    time_t      since;          /* when that began; 0 if unknown */
    const char *host;           /* NULL for this machine */
};

/* The current state of one name. */
struct shown_name {
    const char *name;
    bool        global, cluster;
    int64_t     limit, free, waiting;
    const fairsem_shared_stat_t *stat;      /* NULL if etcd keeps the name */
    const uint64_t *counts;     /* of fairsem_shared_stat_histogram(), or NULL like stat */
    int         running, count;
    const void *users;          /* running commands, then waiting ones, in order */
    /* Describe a user by its index.  `text` receives its command, control characters included, or "" if unknown. */
    void (*describe)(const struct shown_name *name, int number, struct shown_user *user,
                     char *text, size_t size);
};

#endif
