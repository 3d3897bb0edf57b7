/* SPDX-License-Identifier: MIT */
/* shown.h - what the status shows of a name, wherever its units are. */
#ifndef LIMIT_SHOWN_H
#define LIMIT_SHOWN_H

#include <fairsem/shared.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A command that runs or waits. */
struct shown_user {
    int64_t     place;          /* 0: it runs */
    int64_t     pid;            /* the one that the process itself knows, and its messages have */
    int64_t     local_pid;      /* here; 0: it is not to be seen from here */
    int64_t     units, priority, fence;
    int64_t     ns;             /* that it runs or waits */
    time_t      since;          /* 0: nobody knows it */
    const char *host;           /* NULL: this machine */
};

/* One name, now. */
struct shown_name {
    const char *name;
    bool        global, cluster;
    int64_t     limit, free, waiting;
    const fairsem_shared_stat_t *stat;      /* of this machine; NULL: etcd keeps the name */
    const uint64_t *counts;     /* the same: of fairsem_shared_stat_histogram() */
    int         running, count;
    const void *users;          /* who runs, then who waits, in order */
    /* Describe the one of a number.  The text is its command, with control characters; "": nobody knows it. */
    void (*describe)(const struct shown_name *name, int number, struct shown_user *user,
                     char *text, size_t size);
};

#endif
