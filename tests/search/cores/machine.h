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
    int64_t slice;          /* time slice of a thread whose core others want; or 0, see machine_slice() */

    int64_t line;           /* fetch a cache line from another core of the socket; one core at a time */
    int64_t line_far;       /* fetch a line from another socket */
    int64_t line_new;       /* fetch a line that no core has */
    int64_t line_kept;      /* how long a core keeps a line fetched for a store, so that a retry succeeds */
    int64_t access;         /* a load or store of a line that the core has, with the instructions around it */
    int64_t atomic;         /* a locked instruction on a line that the core owns; a fence costs twice as much */
    int64_t pause;
    int64_t clock;          /* read the clock */

    int64_t yield;          /* a sched_yield() by the only thread of its core */
    int64_t yield_more;     /* such a yield takes up to this time longer, at random */
    int64_t context_switch;
    int64_t sleep;          /* enter and leave futex(FUTEX_WAIT), without the sleep */
    int64_t wake;           /* the waker's time for a wake; also the delay of the wake-up on a busy core */
    int64_t wake_idle;      /* the waker's additional time if the woken thread's core is idle: an interrupt */
    int64_t wake_nobody;    /* futex(FUTEX_WAKE) without a sleeper */

    int64_t to_run;         /* from the wake to the thread's first instruction, on an idle core */
    int64_t to_run_tail;    /* one wake-up in 16 takes up to this time longer */
    int64_t to_run_deep;    /* if not 0, replaces to_run on a core that has been idle for deep_after */
    int64_t deep_after;
    int64_t pull;           /* time after which an idle core takes a thread from another core's run queue */
    int64_t ahead;          /* a woken thread preempts a thread with this much more processor time */

    int64_t away;           /* the hypervisor takes a core away for this time, once in away_every; or 0 */
    int64_t away_every;
};

extern struct machine machine;

/* Set the machine to a preset: "vm", "bare" or "deep".  Returns false if there is no such preset. */
bool machine_preset(const char *name);

/* Set one parameter by its name.  Returns false if there is no such parameter. */
bool machine_set(const char *name, int64_t value);

/* .slice, or Linux's time slice, which grows with the logarithm of the number of cores, up to eight cores. */
int64_t machine_slice(void);

#endif
