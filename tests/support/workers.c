/* SPDX-License-Identifier: MIT */
/* workers.c - see workers.h. */
#include "workers.h"

#include <stdio.h>
#include <stdlib.h>

static void *run(void *arg)
{
    struct worker *w = arg;
    int result = fairsem_acquire_until(w->sem, w->units, w->clock, w->deadline);

    if (result == 0 && w->service != NULL)
        w->place = atomic_fetch_add(w->service, 1);
    atomic_store(&w->result, result);
    return NULL;
}

void insist(int expected, int result)
{
    if (result != expected) {
        fprintf(stderr, "a result is %d, not %d\n", result, expected);
        abort();
    }
}

void start_thread(pthread_t *thread, void *(*start)(void *), void *arg)
{
    if (pthread_create(thread, NULL, start, arg) != 0) {
        fprintf(stderr, "cannot create a thread\n");
        exit(99);
    }
}

void worker_start(struct worker *w, fairsem_t *sem, int64_t units)
{
    w->sem = sem;
    w->units = units;
    atomic_store(&w->result, STILL_WAITING);
    start_thread(&w->thread, run, w);
}

void worker_queue(struct worker *w, fairsem_t *sem, int64_t units, int64_t expected)
{
    worker_start(w, sem, units);
    await_waiters(sem, expected);
}

int worker_join(struct worker *w)
{
    pthread_join(w->thread, NULL);
    return atomic_load(&w->result);
}

void await_waiters(const fairsem_t *sem, int64_t n)
{
    while (fairsem_waiters(sem) != n)
        moment();
}

void await_result(struct worker *w)
{
    while (atomic_load(&w->result) == STILL_WAITING)
        moment();
}

int worker_waits(struct worker *w)
{
    return atomic_load(&w->result) == STILL_WAITING;
}

int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

struct timespec from_now(clockid_t clock, int64_t ms)
{
    struct timespec ts;
    int64_t ns;

    clock_gettime(clock, &ts);
    ns = ts.tv_nsec + ms % 1000 * 1000000;
    ts.tv_sec += (time_t)(ms / 1000);
    if (ns < 0) {
        ns += 1000000000;
        ts.tv_sec--;
    } else if (ns >= 1000000000) {
        ns -= 1000000000;
        ts.tv_sec++;
    }
    ts.tv_nsec = (long)ns;
    return ts;
}

bool can_be_interruptible(void)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_INTERRUPTIBLE };
    fairsem_t sem;

    return fairsem_init(&sem, 0, &attr) == 0 && fairsem_destroy(&sem) == 0;
}
