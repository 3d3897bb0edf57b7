/* SPDX-License-Identifier: MIT */
/*
 * stay_awake.h - may the head of the queue stay awake for its grant, and for how long?
 *
 * Where the thread that will release runs on another core, a unit granted to a thread that is
 * awake arrives in a fraction of a microsecond, one granted to a sleeper in the time of a wake-up:
 * ten to a hundred times as long.  Where the releaser needs our core, every moment awake is lost,
 * to all.  Nothing distinguishes the two beforehand.  But afterwards the granter knows, for every
 * waiter that was the head, asleep or awake: for how long it was the head, and on which cores it
 * and the granter ran.  Staying awake would have paid if the cores differ and the time is at most
 * two wake-ups.  So every wait is a lesson, and nothing needs to be tried.
 *
 *   - A semaphore has two doubts: whether a thread that joins as the head should stay awake, and
 *     whether the next head should be woken early: one grant ahead, so that its wake-up overlaps
 *     the time for which its predecessor holds the unit.  For the second only the time counts.
 *     Where several threads take turns on a few cores, two of them are on the same one as often as
 *     not (4 threads on two cores, 0.3 us each: 500,000 grants a second with the cores counted,
 *     1,630,000 without), and if the woken thread must wait for that core the time shows it.
 *   - A lesson in favor takes one step from the doubt, one against adds two.  So what pays in less
 *     than two of three cases is not done.  The granter holds the mutex: no atomics, and the
 *     waiter need not touch the semaphore after its grant (I8).
 *   - The holders' cores come first.  A thread that stays awake on a core that a holder of units
 *     needs delays the release that it waits for, and is found awake all the same: the lessons
 *     do not show it.  So as many holders as the units allow, and the one who stays awake, must
 *     not be more than the cores of the process.
 */
#ifndef FS_STAY_AWAKE_H
#define FS_STAY_AWAKE_H

#include "cpu.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing is known, so it is done. */
struct fs_stay_awake {
    uint8_t as_head, early;     /* doubts */
};

#define FS_DOUBT_MAX  16
#define FS_DOUBT_HIGH 8         /* from here on it is not done */

static inline uint8_t fs_doubt_after(uint8_t doubt, bool paid)
{
    if (paid)
        return doubt != 0 ? doubt - 1 : 0;
    return doubt + 2 < FS_DOUBT_MAX ? doubt + 2 : FS_DOUBT_MAX;
}

/* Are there cores for all who can hold n of these units each, and one more? */
static inline bool fs_cores_suffice(int64_t units, int64_t n)
{
    int64_t holders = n > 0 ? units / n : units;

    return (holders > 0 ? holders : 1) < fs_cpu_count();
}

/*
 * The lesson of a grant: the waiter was the head for so long, and on `core` when it joined; the
 * caller is the granter.  `joined_as_head` says which of the two is to be learned.
 */
void fs_stay_awake_learn(struct fs_stay_awake *doubts, bool joined_as_head, int64_t head_ns,
                         int core);

enum fs_spin_kind {
    FS_SPIN_NOT,
    /*
     * Joined as the head: for two wake-ups.  One would be the competitive bound (Karlin, Li,
     * Manasse, Owicki, 1991: at most twice the cost of the best choice).  But the other side
     * may sleep, too, and its answer then comes after its own wake-up.
     */
    FS_SPIN_AS_HEAD,
    /* Woken early: for half a wake-up, its predecessor has had one to get going. */
    FS_SPIN_WOKEN
};

/*
 * Until *word is no longer `value`, or it is time to sleep.  A thread that joined as the head knows
 * the time from then; another reading of the clock would take as long as a cache line takes from
 * core to core.  No lock held.
 */
void fs_spin(const _Atomic int *word, int value, enum fs_spin_kind kind, int64_t joined_ns);

/* A thread that slept, and was completed at `completed_ns`, runs. */
void fs_spin_woken(int64_t completed_ns);

#endif
