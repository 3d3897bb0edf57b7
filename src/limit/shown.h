/* SPDX-License-Identifier: MIT */
/* shown.h - what the status shows of a name, wherever its units are. */
#ifndef LIMIT_SHOWN_H
#define LIMIT_SHOWN_H

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
    const char *command;        /* not ended by '\0'; it may have control characters */
    size_t      command_length; /* 0: nobody knows it */
};

/* One name, now. */
struct shown_name {
    const char *name;
    const char *where;          /* in parentheses behind it; NULL: nothing */
    bool        global, cluster;
    int64_t     limit, free, waiting;
    int         running, count;
    const void *users;          /* who runs, then who waits, in order */
    /* Describe the one of a number.  The text may be used for its command. */
    void (*describe)(const struct shown_name *name, int number, struct shown_user *user,
                     char *text, size_t size);
};

#endif
