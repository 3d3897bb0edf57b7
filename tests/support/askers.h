/* SPDX-License-Identifier: MIT */
/*
 * askers.h - workers that wait as a fairsem_wait_t says: with a priority, a token, a deadline.
 *
 * An asker contains a worker: pass its member `w` to the functions of workers.h (worker_join,
 * worker_waits, await_result).
 */
#ifndef ASKERS_H
#define ASKERS_H

#include "workers.h"

struct asker {
    struct worker  w;
    fairsem_wait_t how;
};

static inline void *asker_run(void *arg)
{
    struct asker *a = arg;
    int result = fairsem_acquire_with(a->w.sem, a->w.units, &a->how);

    if (result == 0 && a->w.service != NULL)
        a->w.place = atomic_fetch_add(a->w.service, 1);
    atomic_store(&a->w.result, result);
    return NULL;
}

/* Start a thread that runs `run`, with the request in a->w and a->how. */
static inline void asker_start_as(struct asker *a, fairsem_t *sem, int64_t units,
                                  void *(*run)(void *))
{
    a->w.sem = sem;
    a->w.units = units;
    atomic_store(&a->w.result, STILL_WAITING);
    start_thread(&a->w.thread, run, a);
}

/* Start a thread that acquires `units` as a->how says, and ends. */
static inline void asker_start(struct asker *a, fairsem_t *sem, int64_t units)
{
    asker_start_as(a, sem, units, asker_run);
}

/* Like asker_start(), but returns only when `expected` requests wait in the queue. */
static inline void asker_queue(struct asker *a, fairsem_t *sem, int64_t units, int64_t expected)
{
    asker_start(a, sem, units);
    await_waiters(sem, expected);
}

#endif
