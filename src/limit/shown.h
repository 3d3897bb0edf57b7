/* SPDX-License-Identifier: MIT */
/* shown.h - the status of a name of this machine or of etcd, to be printed. */
#ifndef LIMIT_SHOWN_H
#define LIMIT_SHOWN_H

#include <fairsem/shared.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A command that runs or waits. */
struct shown_user {
    int64_t     place;          /* position in the queue; 0 if the command runs */
    int64_t     pid;            /* process ID in the command's own PID namespace */
    int64_t     local_pid;      /* process ID in our PID namespace; 0 if the process is not visible there */
    int64_t     units, priority, fence;
    int64_t     ns;             /* how long the command has run or waited */
    time_t      since;          /* start of this run or wait; 0 if unknown */
    const char *host;           /* NULL for a name of this machine */
};

struct shown_name {
    const char *name;
    bool        global, cluster;
    int64_t     limit, free, waiting;
    const fairsem_shared_stat_t *stat;      /* NULL if etcd keeps the name */
    const uint64_t *counts;     /* from fairsem_shared_stat_histogram(); NULL if stat is NULL */
    int         running, count;
    const void *users;          /* array for describe(): running commands, then waiting ones in queue order */
    /*
     * Describe the user with the index `number`.  `text` receives the command, control characters included, or
     * "" if the command is unknown.
     */
    void (*describe)(const struct shown_name *name, int number, struct shown_user *user,
                     char *text, size_t size);
};

#endif
