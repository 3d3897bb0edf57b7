/* SPDX-License-Identifier: MIT */
/*
 * workers.h - threads that do one acquire each and record its result.  A test orders them by observing the
 * queue, never by sleeping.
 */
#ifndef WORKERS_H
#define WORKERS_H

#include "moment.h"

#include <fairsem.h>
#include <stdatomic.h>
#include <stdbool.h>

#define STILL_WAITING (-1)      /* result of a worker whose call has not returned */

struct worker {
    pthread_t              thread;
    fairsem_t             *sem;
    int64_t                units;
    clockid_t              clock;       /* of the deadline */
    const struct timespec *deadline;    /* may be NULL */
    _Atomic int           *service;     /* counts the workers that were granted; may be NULL */
    int                    place;       /* valid after join: *service when this worker was granted */
    _Atomic int            result;      /* STILL_WAITING, or what the acquire returned */
};

/* Start a thread that acquires `units` and ends.  First set the other members of *w, or zero them. */
void worker_start(struct worker *w, fairsem_t *sem, int64_t units);

/* Like worker_start(), but returns only when `expected` requests wait in the queue. */
void worker_queue(struct worker *w, fairsem_t *sem, int64_t units, int64_t expected);

/* Join the thread.  Returns the result of its acquire, or STILL_WAITING if it was canceled. */
int worker_join(struct worker *w);

/* Return when exactly n requests wait in the queue. */
void await_waiters(const fairsem_t *sem, int64_t n);

/* Return when the worker's call has returned. */
void await_result(struct worker *w);

/* Is the worker's call still running? */
int worker_waits(struct worker *w);

/* Can a semaphore be interruptible on this system? */
bool can_be_interruptible(void);

/*
 * End the program unless the result is the expected one.  For calls in a thread that must not assert
 * (see suite.h).
 */
void insist(int expected, int result);

void start_thread(pthread_t *thread, void *(*run)(void *), void *arg);

/* CLOCK_MONOTONIC as a number. */
int64_t now_ns(void);

/* A deadline `ms` milliseconds from now (negative: in the past) on `clock`. */
struct timespec from_now(clockid_t clock, int64_t ms);

#endif
