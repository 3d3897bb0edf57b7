/* SPDX-License-Identifier: MIT */
/*
 * machine.h - the machine model: what each event costs on the simulated cores.
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
    int64_t slice;          /* of a thread, if others want its core; 0: as Linux scales it with the cores */

    int64_t line;           /* fetch a cache line from another core of the socket; one core at a time */
    int64_t line_far;       /* from another socket */
    int64_t line_new;       /* that no core has */
    int64_t line_kept;      /* a core that has fetched a line to store keeps it so long: a second try hits */
    int64_t access;         /* each load and store, with the instructions around it, if this core has the line */
    int64_t atomic;         /* a locked instruction on a line that this core owns; a fence costs two */
    int64_t pause;
    int64_t clock;          /* read it */

    int64_t yield;          /* a sched_yield() by the only thread of its core, at least */
    int64_t yield_more;     /* and at most so much more */
    int64_t context_switch;
    int64_t sleep;          /* enter and leave futex(FUTEX_WAIT), without the sleep */
    int64_t wake;           /* wake a thread: the waker's time; the target's, if its core is busy */
    int64_t wake_idle;      /* the waker's additional time if that core is idle: an interrupt */
    int64_t wake_nobody;    /* futex(FUTEX_WAKE) without a sleeper */

    int64_t to_run;         /* from the wake to the first instruction, on an idle core */
    int64_t to_run_tail;    /* one wake-up in 16 takes up to so much longer */
    int64_t to_run_deep;    /* instead of to_run, after deep_after of idleness; 0: the same */
    int64_t deep_after;
    int64_t pull;           /* a core that has become idle takes a waiting thread from another core */
    int64_t ahead;          /* a woken thread preempts one that has had so much more processor time */

    int64_t away;           /* the host takes a virtual core away for so long; 0: never */
    int64_t away_every;
};

extern struct machine machine;

/* Set the machine to a preset: "vm", "bare" or "deep".  False: there is no such preset. */
bool machine_preset(const char *name);

/* Set one parameter by its name.  False: there is no such parameter. */
bool machine_set(const char *name, int64_t value);

/* The time slice: Linux scales it with the logarithm of the cores, up to eight. */
int64_t machine_slice(void);

#endif
