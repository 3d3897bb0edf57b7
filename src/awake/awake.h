/* SPDX-License-Identifier: MIT */
/*
 * awake.h - adaptive spinning: which waiters stay awake, and which are pre-woken.
 *
 * A unit reaches an awake waiter ten to a hundred times faster than a sleeping one.  But if the releasing
 * thread needs the waiter's core, an awake waiter delays all threads.  So a semaphore learns from its
 * grants whether staying awake pays: doc/awake.md.
 *
 * The caller holds the semaphore's lock, unless a function says otherwise.  A wrong decision costs time,
 * but never changes the order of grants.
 */
#ifndef FS_AWAKE_H
#define FS_AWAKE_H

#include "system/deadline.h"
#include "system/system.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * How a queued thread waits before it sleeps.  Another thread may change the strategy when it pre-wakes the
 * queued thread, or when the queued thread becomes near or the next to be granted.
 */
enum fs_strategy {
    FS_SLEEP_AT_ONCE,
    FS_SPIN_AS_FRONT,       /* enqueued as the front */
    FS_SPIN_WOKEN,          /* pre-woken by the granting thread; or with bounded bypass, woken to compete for
                             * units */
    FS_YIELD_AS_FRONT,      /* enqueued as the front, but the releasing thread needs this core */
    FS_YIELD_WOKEN,         /* the front of a convoy, pre-woken by a thread that was enqueued */
    FS_YIELD_NEXT,          /* with many cores, the new front; in a convoy, the waiter of FS_PREWAKE_ON_CORE.
                             * The thread spins once, and then yields. */
    FS_YIELD_IN_QUEUE       /* among the first waiters of the queue */
};

/* The state of the policy for one semaphore.  All zero: nothing is known yet, so threads stay awake. */
struct fs_awake {
    /* Penalties of FS_SPIN_AS_FRONT and of FS_YIELD_AS_FRONT. */
    uint8_t  as_front : 4, as_front_here : 4;
    uint8_t  holders_core;                  /* core on which the last granted waiter was enqueued,
                                             * as fs_core_byte() */
    uint16_t prewake : 4;                   /* penalty of pre-waking */
    uint16_t interval : 6;                  /* logarithm of the hand-off interval, see awake.c */
    uint16_t near : 6;                      /* number of near waiters: ahead.h */
};
#define FS_NEAR_MAX 63

/* A waiting request, as the policy sees it. */
struct fs_awake_facts {
    int64_t enqueued_ns;
    int64_t waiting;        /* length of the queue, including this request */
    int64_t units, each;    /* all units of the semaphore, and those that this request wants */
    bool    is_front;
    bool    only_front;     /* only the front may stay awake, and no waiter is pre-woken */
    bool    prewake_unknown;    /* between processes, where the penalty of pre-waking is not learned */
};

/* Which waiter to pre-wake, and with which strategy. */
enum fs_prewake {
    FS_PREWAKE_NOBODY,
    FS_PREWAKE_FRONT,       /* the front, with FS_YIELD_WOKEN */
    FS_PREWAKE_ON_CORE      /* among the first FS_PREWAKE_DEPTH waiters, the first that was enqueued on this
                             * core, with FS_YIELD_NEXT; if there is no such waiter, FS_PREWAKE_FRONT */
};
#define FS_PREWAKE_DEPTH 8

/*
 * Has the process so few cores that many waiters form a convoy?  If true, call fs_awake_enqueued() and
 * fs_awake_prewakes_front(); if false, fs_awake_near() and fs_awake_strategy_near().
 */
bool fs_awake_in_convoy(void);

/* Returns how many of the first waiters should be awake now. */
int fs_awake_near(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns);

/* Returns the strategy of a near waiter or front that has just been enqueued. */
enum fs_strategy fs_awake_strategy_near(const struct fs_awake *awake, const struct fs_awake_facts *facts);

/*
 * This thread has been enqueued, while it ran on `core`.  Stores the thread's strategy in *strategy.  Returns
 * which waiter to pre-wake.
 */
enum fs_prewake fs_awake_enqueued(const struct fs_awake *awake, const struct fs_awake_facts *facts,
                                  int core, enum fs_strategy *strategy);

/* Should the granting thread pre-wake the new front, with FS_SPIN_WOKEN? */
bool fs_awake_prewakes_front(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns);

/*
 * With bounded bypass: should a thread that found no free unit at start_ns stay awake before it is
 * enqueued?  *penalty belongs to the semaphore.  No lock is held.
 */
bool fs_awake_before_queue(const _Atomic uint8_t *penalty, int64_t start_ns, int64_t now_ns);

/* paid: the thread got its units before it was enqueued.  No lock is held: a lost update is a lost sample. */
void fs_awake_learn_before_queue(_Atomic uint8_t *penalty, bool paid);

/*
 * Call this when a waiter is granted that has been the front for FS_PREEMPTED_NS or more.  If the grant was
 * expected sooner, the hand-off counts as preempted: another process probably had the core.  Many preempted
 * hand-offs begin a back-off, in which all waiters sleep.
 *
 * as_front: the waiter was enqueued as the front; others_wait: the queue has other waiters.  Only for
 * semaphores of one process.  Call this before fs_awake_granted(), which overwrites holders_core.
 */
#define FS_PREEMPTED_NS 1000000
void fs_awake_preempted(const struct fs_awake *awake, bool as_front, bool others_wait, int64_t front_ns,
                        int64_t now_ns);

void fs_awake_learn_interval(struct fs_awake *awake, int64_t interval_ns);

/* A front was granted that was enqueued on `core`.  interval_ns: the hand-off interval, or 0 if unknown. */
static inline void fs_awake_granted(struct fs_awake *awake, int core, int64_t interval_ns)
{
    awake->holders_core = fs_core_byte(core);
    if (interval_ns != 0)
        fs_awake_learn_interval(awake, interval_ns);
}

/*
 * A waiter has been granted, and was the front for front_ns: learn whether staying awake or pre-waking would
 * have paid.  as_front: the waiter was enqueued as the front.  core: the core on which the waiter was
 * enqueued.  After a short wait, yielding would have paid if the calling thread runs on that core; spinning
 * would have paid if the calling thread runs on another core.
 */
void fs_awake_learn(struct fs_awake *awake, bool as_front, int64_t front_ns, int core);

/* Learn from a front that has timed out.  A short wait teaches nothing: a grant might have come soon after. */
void fs_awake_learn_timed_out(struct fs_awake *awake, bool as_front, int64_t front_ns);

/*
 * Spin or yield, as *strategy says, until *word is no longer `value`, the strategy's time limit has passed, or
 * yields do not pay.  Returns false, without a delay, if the thread should sleep at once.  No lock is held.
 *
 * A thread that was enqueued as the front counts its time from enqueued_ns: reading the clock would take as
 * long as moving a cache line between cores.
 */
bool fs_awake_stay(const _Atomic int *word, int value, const _Atomic uint8_t *strategy,
                   int64_t enqueued_ns, const struct fs_deadline *deadline);

void fs_awake_note_wake_up(int64_t woken_ns);

/*
 * A thread that was woken at woken_ns runs now.  Measure one wake-up in 16, chosen by the low bits of the
 * time: each measurement reads the clock.  No lock is held.
 */
static inline void fs_awake_slept(int64_t woken_ns)
{
    if (woken_ns % 16 == 0)
        fs_awake_note_wake_up(woken_ns);
}

#endif
