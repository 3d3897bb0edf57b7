/* SPDX-License-Identifier: MIT */
/*
 * stay_awake.h - may the head of the queue stay awake for its grant, and for how long?
 *
 * If the releasing thread runs on another core, a unit reaches a waiter that is awake in a fraction
 * of a microsecond.  A sleeping waiter needs a wake-up: ten to a hundred times as long.  If the
 * releaser needs our core, every moment awake delays all threads.  Nothing distinguishes the two
 * cases beforehand.  But afterwards the granter knows, for every waiter that was the head, asleep
 * or awake, how long it was the head, and on which cores it and the granter ran.  Staying awake
 * would have paid off if the cores differ and the time is at most two wake-ups.  So the semaphore
 * learns from every wait, without experiments.
 *
 *   - A semaphore has two counters, called doubts.  One is about a thread that joins as the head:
 *     should it stay awake?  The other is about the next head: should it be woken early, one grant
 *     ahead, so that its wake-up overlaps the time for which its predecessor holds the unit?  For
 *     the second only the time counts, not the cores.  If several threads take turns on a few
 *     cores, two of them are often on the same one (4 threads on two cores, 0.3 us each: 500,000
 *     grants a second with the cores counted, 1,630,000 without).  If the woken thread must wait
 *     for that core, the time shows it.
 *   - A wait that favors staying awake takes one from the doubt, any other adds two.  So if less
 *     than two of three waits favor it, it is not done.  The granter changes the doubts under the
 *     mutex: they need no atomics, and the waiter need not touch the semaphore after its grant
 *     (I8).
 *   - The holders' cores come first.  A thread that stays awake on a core that a holder of units
 *     needs delays the very release that it waits for.  The doubts do not show this, because the
 *     thread is awake when it is granted.  So no thread stays awake unless the process has more
 *     cores than threads can hold units.
 */
#ifndef FS_STAY_AWAKE_H
#define FS_STAY_AWAKE_H

#include "cpu.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing is known yet, so threads stay awake. */
struct fs_stay_awake {
    uint8_t as_head, early;     /* doubts */
};

#define FS_DOUBT_MAX  16
#define FS_DOUBT_HIGH 8         /* from here on, threads sleep at once */

static inline uint8_t fs_doubt_after(uint8_t doubt, bool paid)
{
    if (paid)
        return doubt != 0 ? doubt - 1 : 0;
    return doubt + 2 < FS_DOUBT_MAX ? doubt + 2 : FS_DOUBT_MAX;
}

/* Are there cores for all threads that can hold n of these units each, and for one more? */
static inline bool fs_cores_suffice(int64_t units, int64_t n)
{
    int64_t holders = n > 0 ? units / n : units;

    return (holders > 0 ? holders : 1) < fs_cpu_count();
}

/*
 * Learn from a grant: the waiter was the head for head_ns, and ran on `core` when it joined; the
 * caller is the granter.  `joined_as_head` says which of the two doubts changes.
 */
void fs_stay_awake_learn(struct fs_stay_awake *doubts, bool joined_as_head, int64_t head_ns,
                         int core);

enum fs_spin_kind {
    FS_SPIN_NOT,
    /*
     * Joined as the head: spin for two wake-ups.  One would be the competitive bound (Karlin, Li,
     * Manasse, Owicki, 1991: at most twice the cost of the best choice).  But the releasing thread
     * may also sleep, and then releases only after its own wake-up.
     */
    FS_SPIN_AS_HEAD,
    /* Woken early: spin for half a wake-up; the predecessor has already run for the time of one. */
    FS_SPIN_WOKEN
};

/*
 * Spin until *word is no longer `value`, or until it is time to sleep.  A thread that joined as the
 * head passes the time of that, because another reading of the clock would take as long as a cache
 * line takes from core to core.  No lock held.
 */
void fs_spin(const _Atomic int *word, int value, enum fs_spin_kind kind, int64_t joined_ns);

/* A thread that slept, and was completed at `completed_ns`, runs now: note the time it took. */
void fs_spin_woken(int64_t completed_ns);

#endif
