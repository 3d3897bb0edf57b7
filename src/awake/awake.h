/* SPDX-License-Identifier: MIT */
/*
 * awake.h - adaptive spinning: which waiters stay awake, and which are pre-woken.
 *
 * If the releasing thread runs on another core, a unit reaches a waiter that is awake in a fraction of
 * a microsecond; a sleeping one must be woken first, which takes ten to a hundred times as long.  If
 * the releasing thread needs the core of the waiter, the waiter delays all threads while it is awake.
 * Nothing distinguishes the two cases beforehand, so a semaphore learns from its grants.  doc/awake.md
 * has the reasons, with figures.
 *
 * The policy takes no lock and knows no queue.  Its callers hold their lock, except for fs_awake_stay()
 * and fs_awake_slept().  An answer may cost or save time; it never changes the order of grants.
 */
#ifndef FS_AWAKE_H
#define FS_AWAKE_H

#include "system/deadline.h"
#include "system/system.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * What a queued thread does before it sleeps.  A thread that pre-wakes it, or one that is enqueued, may
 * change the strategy.
 */
enum fs_strategy {
    FS_SLEEP_AT_ONCE,
    FS_SPIN_AS_FRONT,       /* enqueued as the front */
    FS_SPIN_WOKEN,          /* pre-woken by the releasing thread */
    FS_YIELD_AS_FRONT,      /* enqueued as the front, but the releasing thread needs its core */
    FS_YIELD_WOKEN,         /* pre-woken in a convoy, by the next thread that was enqueued */
    FS_YIELD_NEXT,          /* the next waiter of its core, pre-woken or awake already, so it spins first */
    FS_YIELD_IN_QUEUE       /* among the first waiters of the queue */
};

/* The state of the policy for one semaphore.  All zero: nothing is known yet, so threads stay awake. */
struct fs_awake {
    uint8_t  as_front : 4, as_front_here : 4; /* penalties; `here`: if the granter runs on the waiter's core */
    uint8_t  holders_core;                  /* fs_core_byte() of the core where the last holder was enqueued */
    uint16_t prewake : 4;                   /* a penalty */
    uint16_t interval : 6;                  /* logarithm of the hand-off interval, see awake.c */
    uint16_t near : 6;                      /* see ahead.h */
};
#define FS_NEAR_MAX 63

/* A waiting request, as the policy sees it. */
struct fs_awake_facts {
    int64_t enqueued_ns;
    int64_t waiting;        /* length of the queue, including this request */
    int64_t units, each;    /* the units of the semaphore in all, and those of this request */
    bool    is_front;
    bool    only_front;     /* no other waiter may be awake or pre-woken */
    bool    prewake_unknown;    /* between processes: the penalty of pre-waking is not learned */
};

/* The waiter to pre-wake, if it sleeps. */
enum fs_prewake {
    FS_PREWAKE_NOBODY,
    FS_PREWAKE_FRONT,       /* with FS_YIELD_WOKEN */
    FS_PREWAKE_ON_CORE      /* the first waiter that was enqueued on this core, with FS_YIELD_NEXT; the front if
                             * none of the first FS_PREWAKE_DEPTH waiters was */
};
#define FS_PREWAKE_DEPTH 8

/*
 * Has the process so few cores that many waiters form a convoy?  If so, call fs_awake_enqueued() and
 * fs_awake_prewakes_front(); otherwise fs_awake_near() and fs_awake_strategy_near().
 */
bool fs_awake_in_convoy(void);

/* Returns how many of the first waiters should be awake now. */
int fs_awake_near(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns);

/* The strategy of a thread that has been enqueued near the front, or as the front. */
enum fs_strategy fs_awake_strategy_near(const struct fs_awake *awake, const struct fs_awake_facts *facts);

/* A thread has been enqueued, on this core.  Returns whom to pre-wake; its own strategy is in *strategy. */
enum fs_prewake fs_awake_enqueued(const struct fs_awake *awake, const struct fs_awake_facts *facts,
                                  int core, enum fs_strategy *strategy);

/* Should the granting thread pre-wake the new front, with FS_SPIN_WOKEN? */
bool fs_awake_prewakes_front(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns);

/*
 * With bounded bypass: should a thread that found no free unit at start_ns still stay awake before it
 * is enqueued?  *penalty belongs to the semaphore.  No lock is held: a lost update is a lost sample.
 */
bool fs_awake_before_queue(const _Atomic uint8_t *penalty, int64_t start_ns, int64_t now_ns);

/* Learn from a wait before the queue, which has ended.  paid: the thread got its units in that wait. */
void fs_awake_learn_before_queue(_Atomic uint8_t *penalty, bool paid);

/*
 * The front was granted after FS_PREEMPTED_NS or more as the front, so perhaps the hand-off was
 * preempted.  as_front: it was enqueued as the front; others_wait: it was not the only waiter.  Call
 * this only where all threads are of one process, and before fs_awake_granted(), which forgets the core
 * of the last holder.
 */
#define FS_PREEMPTED_NS 1000000
void fs_awake_preempted(const struct fs_awake *awake, bool as_front, bool others_wait, int64_t front_ns,
                        int64_t now_ns);

void fs_awake_learn_interval(struct fs_awake *awake, int64_t interval_ns);

/* The front was granted.  It was enqueued on this core; interval_ns is the hand-off interval, 0 if unknown. */
static inline void fs_awake_granted(struct fs_awake *awake, int core, int64_t interval_ns)
{
    awake->holders_core = fs_core_byte(core);
    if (interval_ns != 0)
        fs_awake_learn_interval(awake, interval_ns);
}

/*
 * Learn from the grant of the front, in the granting thread: would staying awake or pre-waking have
 * paid?  as_front: it was enqueued as the front.
 */
void fs_awake_learn(struct fs_awake *awake, bool as_front, int64_t front_ns, int core);

/* Learn from a front that has timed out, but not from a short wait: a grant might have come soon after it. */
void fs_awake_learn_in_vain(struct fs_awake *awake, bool as_front, int64_t front_ns);

/*
 * Spin or yield, as *strategy says, until *word is no longer `value` or it is time to sleep.  A thread
 * that was enqueued as the front takes enqueued_ns for the start, because reading the clock takes as
 * long as moving a cache line between cores.  Returns false if the strategy is to sleep at once.
 */
bool fs_awake_stay(const _Atomic int *word, int value, const _Atomic uint8_t *strategy,
                   int64_t enqueued_ns, const struct fs_deadline *deadline);

/* A thread that was woken at woken_ns runs now: record how long its wake-up took. */
void fs_awake_note_wake_up(int64_t woken_ns);

/* One wake-up in 16 is measured, because that reads the clock; the low bits of a time choose it at random. */
static inline void fs_awake_slept(int64_t woken_ns)
{
    if (woken_ns % 16 == 0)
        fs_awake_note_wake_up(woken_ns);
}

#endif
