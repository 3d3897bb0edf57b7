/* SPDX-License-Identifier: MIT */
/*
 * workers.h - threads that do one acquire each and record what came of it, and ways to
 * establish an order by observing the line, never by sleeping.
 */
#ifndef WORKERS_H
#define WORKERS_H

#include <fairsem.h>
#include <stdatomic.h>
#include <stdbool.h>

#define STILL_WAITING (-1)      /* result of a worker whose call has not returned */

struct worker {
    pthread_t              thread;
    fairsem_t             *sem;
    int64_t                units;
    clockid_t              clock;       /* of the deadline */
    const struct timespec *deadline;    /* NULL: none */
    _Atomic int           *service;     /* counts up as workers are served; may be NULL */
    int                    place;       /* r/o after join: *service when this one was served */
    _Atomic int            result;      /* STILL_WAITING, or what the acquire returned */
};

/* Start a thread that acquires `units` and returns.  Fill in more of *w before, or zero it. */
void worker_start(struct worker *w, fairsem_t *sem, int64_t units);

/* The same, and return when it stands in line as the `expected`-th. */
void worker_queue(struct worker *w, fairsem_t *sem, int64_t units, int64_t expected);

/* Join; returns what its acquire returned, or STILL_WAITING if it was canceled. */
int worker_join(struct worker *w);

/* Return when exactly n stand in line. */
void await_waiters(const fairsem_t *sem, int64_t n);

/* Return when the worker's call has returned. */
void await_result(struct worker *w);

/* Is it still in its call, as far as one can see now? */
int worker_waits(struct worker *w);

/* Can a semaphore here be interruptible?  Which systems have that is in t_signals.c. */
bool can_be_interruptible(void);

void start_thread(pthread_t *thread, void *(*run)(void *), void *arg);

/* A deadline `ms` milliseconds from now (negative: in the past) on `clock`. */
struct timespec from_now(clockid_t clock, int64_t ms);

#endif
