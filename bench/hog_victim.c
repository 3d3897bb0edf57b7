/* SPDX-License-Identifier: MIT */
/*
 * hog_victim.c - a hog, which takes the unit again as soon as it has released it, and a victim,
 * which wants the unit now and then.
 *
 * There is one unit.  The hog holds it for 0.2 ms, releases it and asks for it again at once, for
 * ever.  The victim pauses for 0.2 to 1.8 ms, asks, and releases the unit at once.  If units are
 * granted in order of arrival, the victim never waits much longer than one hold.
 *
 * PASSES are counted from outside, in the same way for every kind of semaphore.  The victim publishes
 * the number of its wait just before it calls acquire, and clears the number as soon as acquire has
 * returned, before the release.  The hog reads the number after each acquire.  Suppose the hog
 * reads the same number twice in a row.  Then the victim waited when the hog began its first hold, and
 * still waited when the hog released the unit 0.2 ms later; yet the unit went to the hog again.  This
 * is a pass.
 *
 * One reading alone proves nothing, since the hog may have asked before the victim.  During the hold
 * between the two readings, the victim has 0.2 ms to get from publishing its number into the queue.
 * These two steps are a few nanoseconds apart.  So a semaphore that grants in order counts 0 passes,
 * unless the system stops the victim for 0.2 ms just between them.  A grant that the victim has not
 * noticed yet is not a pass: the hog gets the unit only after the victim has released it, and by then
 * the victim has cleared the number.
 */
#define _POSIX_C_SOURCE 200809L

#include "hog_victim.h"

#include "clock.h"
#include "pin.h"
#include "stats.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct sem_ops *ops;
    void *sem;
    bool pin;
    atomic_bool stop;
    atomic_long waiting; /* the number of the victim's wait, or 0 if it does not wait */

    /* Written by one thread, read by main after the join. */
    _Alignas(128) long hog_served;
    long passes, waits_passed;
    bool hog_pinned;
    _Alignas(128) double *waits;
    size_t served, room;
    int64_t victim_ns, waited_ns; /* the time of the victim's whole loop, and of its waits */
    bool victim_pinned;
};

static void *hog(void *arg)
{
    struct run *r = arg;
    long before = 0, last_passed = 0;

    r->hog_pinned = r->pin && pin_self(0);
    while (!atomic_load(&r->stop)) {
        long waiting;

        r->ops->acquire(r->sem);
        waiting = atomic_load(&r->waiting);
        if (waiting != 0 && waiting == before) {
            r->passes++;
            if (waiting != last_passed)
                r->waits_passed++;
            last_passed = waiting;
        }
        before = waiting;
        r->hog_served++;
        busy_until(now_ns(), HOG_HOLD_NS);
        r->ops->release(r->sem);
    }
    return NULL;
}

/* Marsaglia's xorshift: the same pauses for every peer and in every run. */
static int64_t next_pause(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return VICTIM_PAUSE_MIN_NS
        + (int64_t)(*state % (uint64_t)(VICTIM_PAUSE_MAX_NS - VICTIM_PAUSE_MIN_NS + 1));
}

/* A wait that lasts beyond the end counts with its length at the end. */
static void *victim(void *arg)
{
    struct run *r = arg;
    uint64_t random = UINT64_C(88172645463325252);
    int64_t began = now_ns();

    r->victim_pinned = r->pin && pin_self(1);
    while (!atomic_load(&r->stop) && r->served < r->room) {
        int64_t start, waited;

        sleep_ns(next_pause(&random));
        atomic_store(&r->waiting, (long)r->served + 1);
        start = now_ns();
        r->ops->acquire(r->sem);
        waited = now_ns() - start;
        r->waited_ns += waited;
        r->waits[r->served++] = (double)waited;
        atomic_store(&r->waiting, 0);
        r->ops->release(r->sem);
    }
    r->victim_ns = now_ns() - began;
    return NULL;
}

static void sit_out(int64_t duration_ns, hog_victim_tick *tick, void *arg)
{
    int64_t start = now_ns();

    for (;;) {
        int64_t left = start + duration_ns - now_ns();

        if (tick)
            tick(arg, 1 - (double)left / (double)duration_ns);
        if (left <= 0)
            return;
        sleep_ns(left < 100 * NS_PER_MS ? left : 100 * NS_PER_MS);
    }
}

static int run_threads(struct run *r, int64_t duration_ns, hog_victim_tick *tick, void *arg)
{
    pthread_t hog_thread, victim_thread;
    int err = pthread_create(&hog_thread, NULL, hog, r);

    if (err)
        return err;
    err = pthread_create(&victim_thread, NULL, victim, r);
    if (!err)
        sit_out(duration_ns, tick, arg);
    atomic_store(&r->stop, true);
    pthread_join(hog_thread, NULL);
    if (!err)
        pthread_join(victim_thread, NULL);
    return err;
}

int hog_victim_run(const struct sem_ops *ops, int64_t duration_ns, hog_victim_tick *tick,
                   void *arg, struct hog_victim_result *result)
{
    struct run r = { .ops = ops, .pin = pin_cores() > 1 };
    int err;

    memset(result, 0, sizeof(*result));
    r.room = (size_t)(duration_ns / VICTIM_PAUSE_MIN_NS) + 2;
    r.waits = malloc(r.room * sizeof(*r.waits));
    if (!r.waits)
        return ENOMEM;
    r.sem = sem_new(ops, 1);
    err = r.sem ? run_threads(&r, duration_ns, tick, arg) : ENOSYS;
    sem_delete(ops, r.sem);
    if (err) {
        free(r.waits);
        return err;
    }
    stats_sort(r.waits, r.served);
    result->waits = r.waits;
    result->victim_served = r.served;
    result->waiting = (double)r.waited_ns / (double)r.victim_ns;
    result->hog_served = r.hog_served;
    result->passes = r.passes;
    result->waits_passed = r.waits_passed;
    result->pinned = r.hog_pinned && r.victim_pinned;
    return 0;
}

void hog_victim_free(struct hog_victim_result *result)
{
    free(result->waits);
    result->waits = NULL;
    result->victim_served = 0;
}

double hog_victim_share(const struct hog_victim_result *result)
{
    double all = (double)result->victim_served + (double)result->hog_served;

    return all > 0 ? (double)result->victim_served / all : 0;
}
