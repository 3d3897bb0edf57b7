/* SPDX-License-Identifier: MIT */
/*
 * wait_line.h - wait in line, until a signal at most, with a progress line on stderr if that is a terminal:
 * "3rd in line, 2 running, waited 12 s".
 */
#ifndef LIMIT_WAIT_LINE_H
#define LIMIT_WAIT_LINE_H

#include <fairsem.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Contents of the progress line. */
struct queue_position {
    int64_t     number;         /* 1 at the front; 0 if unknown */
    int         running;
    const char *trouble;        /* NULL if there is none */
};

/* One wait. */
struct wait {
    const char *name;
    bool        exec;           /* this process becomes the command */
    int         leave_timeout_ms;   /* for acquire() to return after a signal, or -1 without a bound */
    int  (*acquire)(void *arg, const fairsem_wait_t *how);
    bool (*position)(void *arg, struct queue_position *position);   /* returns false if nothing is known yet */
    void (*leave)(void *arg);   /* gives granted units back, before a signal kills the process */
    void       *arg;
    sigset_t   *mask;           /* if not NULL, receives the old mask, and all signals stay blocked after a grant */
};

/*
 * Returns the result of `acquire`.  A signal that would kill the process still does, but only after the
 * process has left the queue; otherwise the other processes would notice its death a moment later.
 */
int wait_line(const struct wait *wait, const fairsem_wait_t *how);

#endif
