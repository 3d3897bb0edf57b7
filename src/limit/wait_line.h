/* SPDX-License-Identifier: MIT */
/*
 * wait_line.h - wait in line until the units are granted or a signal comes.  If stderr is a terminal, a
 * progress line shows "3rd in line, 2 running, waited 12 s".
 */
#ifndef LIMIT_WAIT_LINE_H
#define LIMIT_WAIT_LINE_H

#include <fairsem.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct queue_position {
    int64_t     number;         /* 1 at the front; 0 if unknown */
    int         running;
    const char *trouble;        /* why the last query failed, or NULL */
};

struct wait {
    const char *name;
    bool        exec;           /* this process becomes the command */
    int         leave_timeout_ms;   /* time limit of acquire() after a signal; -1 for none */
    int  (*acquire)(void *arg, const fairsem_wait_t *how);
    bool (*position)(void *arg, struct queue_position *position);   /* returns false if nothing can be shown */
    void (*leave)(void *arg);   /* releases granted units before a signal kills the process */
    void       *arg;
    sigset_t   *mask;           /* if not NULL: a grant stores the old mask here, and blocks all signals */
};

/*
 * Returns the result of `acquire`.  A signal kills the process, but only after the request has left the queue,
 * or after leave_timeout_ms.  (If the request were still in the queue, the next process would have to wait
 * for failure detection.)
 */
int wait_line(const struct wait *wait, const fairsem_wait_t *how);

#endif
