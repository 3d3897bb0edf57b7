/* SPDX-License-Identifier: MIT */
/*
 * machine.h - the machine model: the cost of each event on the simulated cores.
 *
 * All times are nanoseconds.  The presets are for a virtual machine, for bare metal, and for bare metal
 * whose idle cores go to deep sleep.
 */
#ifndef CORES_MACHINE_H
#define CORES_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_CORES = 128 };

struct machine {
    int64_t cores;
    int64_t socket;         /* cores of a socket */
    int64_t slice;          /* of a thread whose core others want, or 0 for Linux's, which depends on the cores */

    int64_t line;           /* fetch a cache line from another core of the socket; one core at a time */
    int64_t line_far;       /* fetch it from another socket */
    int64_t line_new;       /* fetch one that no core has */
    int64_t line_kept;      /* a core keeps a line that it has fetched to store, so that a second try hits */
    int64_t access;         /* each load and store, with the instructions around it, if this core has the line */
    int64_t atomic;         /* a locked instruction on a line that this core owns; a fence costs two */
    int64_t pause;
    int64_t clock;          /* read the clock */

    int64_t yield;          /* a sched_yield() by the only thread of its core, */
    int64_t yield_more;     /* and at most this much more */
    int64_t context_switch;
    int64_t sleep;          /* enter and leave futex(FUTEX_WAIT), without the sleep */
    int64_t wake;           /* the waker's time for a wake; the target core's, if that is busy */
    int64_t wake_idle;      /* the waker's additional time if the target core is idle: an interrupt */
    int64_t wake_nobody;    /* futex(FUTEX_WAKE) without a sleeper */

    int64_t to_run;         /* from the wake to the first instruction, on an idle core */
    int64_t to_run_tail;    /* one wake-up in 16 takes up to this much longer */
    int64_t to_run_deep;    /* instead of to_run, after deep_after of idleness; 0 means to_run */
    int64_t deep_after;
    int64_t pull;           /* until an idle core takes a waiting thread from another core */
    int64_t ahead;          /* a woken thread preempts one that has had this much more processor time */

    int64_t away;           /* the host takes a virtual core away for this time, or 0 for never */
    int64_t away_every;
};

extern struct machine machine;

/* Set the machine to a preset: "vm", "bare" or "deep".  Returns false if there is no such preset. */
bool machine_preset(const char *name);

/* Set one parameter by its name.  Returns false if there is no such parameter. */
bool machine_set(const char *name, int64_t value);

/* The time slice, which Linux scales with the logarithm of the number of cores, up to eight. */
int64_t machine_slice(void);

#endif
