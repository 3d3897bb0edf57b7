/* SPDX-License-Identifier: MIT */
/*
 * awake.h - who stays awake for its turn, and who is woken ahead of it: the whole policy.
 *
 * If the releasing thread runs on another core, a unit reaches a waiter that is awake in a fraction
 * of a microsecond, and one that sleeps after a wake-up, ten to a hundred times as long.  If the
 * releaser needs our core, every moment awake delays all threads.  Nothing distinguishes the two
 * beforehand, so a semaphore learns from its grants.  doc/awake.md has the reasons, with figures.
 *
 * The policy takes no lock and knows no queue.  Its callers hold their lock, except for
 * fs_awake_stay() and fs_awake_slept().  Whatever it answers, the promise holds: an answer costs
 * time, or saves it, and no more.
 */
#ifndef FS_AWAKE_H
#define FS_AWAKE_H

#include "system/deadline.h"
#include "system/system.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What a thread in the queue does before it sleeps.  Whoever wakes it, or joins, may replace it. */
enum fs_strategy {
    FS_SLEEP_AT_ONCE,
    FS_SPIN_AS_FRONT,       /* it joined as the head */
    FS_SPIN_WOKEN,         /* woken early, by the releasing thread */
    FS_YIELD_AS_FRONT,      /* it joined as the head, but the releasing thread needs its core */
    FS_YIELD_WOKEN,        /* woken early in a crowd, by the next to join */
    FS_YIELD_NEXT,         /* the same, or awake already: next on its core, so it spins first */
    FS_YIELD_IN_QUEUE      /* its turn is near */
};

/* What is known of a semaphore.  All zero: nothing yet, so threads stay awake. */
struct fs_awake {
    uint8_t  as_front : 4, as_front_here : 4; /* penalties; `here`: on the granter's core */
    uint8_t  holders_core;                  /* fs_core_byte() of where the last grantee joined */
    uint16_t early : 4;                     /* a penalty */
    uint16_t interval : 6;                      /* about the time from grant to grant, see awake.c */
    uint16_t near : 6;                      /* ahead.h */
};
#define FS_NEAR_MAX 63

/* What the policy has to know of a request that waits. */
struct fs_awake_facts {
    int64_t enqueued_ns;
    int64_t waiting;        /* so many wait, with this one */
    int64_t units, each;    /* how many there are in all, and how many it wants */
    bool    is_front;
    bool    only_front;      /* nobody else may be awake, or be woken ahead */
    bool    early_unknown;  /* nobody learns whether it pays to be woken ahead: between processes */
};

/* The waiter to wake ahead, if it sleeps. */
enum fs_ahead {
    FS_AHEAD_NOBODY,
    FS_AHEAD_FRONT,          /* with FS_YIELD_WOKEN */
    FS_AHEAD_ON_CORE        /* the first that joined on this core, of so many, with FS_YIELD_NEXT;
                             * else the head */
};
#define FS_AHEAD_PLACES 8

/*
 * Has the process so few cores that a crowd of waiters shares them in turn?  Then there are
 * fs_awake_joined() and fs_awake_next(); else fs_awake_near() and fs_awake_strategy_near().
 */
bool fs_awake_in_convoy(void);

/* So many waiters, the first of the queue, are to be awake now. */
int fs_awake_near(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns);

/* A request of a thread has joined, and is near or the head: what does the thread do first? */
enum fs_strategy fs_awake_strategy_near(const struct fs_awake *awake, const struct fs_awake_facts *facts);

/* A request of a thread has joined, on this core.  *plan: what the thread does first. */
enum fs_ahead fs_awake_joined(const struct fs_awake *awake, const struct fs_awake_facts *facts,
                              int core, enum fs_strategy *plan);

/* Is the new head to be woken ahead by the thread that grants now, with FS_SPIN_WOKEN? */
bool fs_awake_next(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns);

/*
 * With bounded bypass: does a thread that found no free unit at start_ns stay awake still, before it
 * joins?  *penalty is one of the semaphore.  No lock is held: a lost update is a lost sample.
 */
bool fs_awake_before_queue(const _Atomic uint8_t *penalty, int64_t start_ns, int64_t now_ns);

/* Learn from that: did it get its units? */
void fs_awake_learn_before_queue(_Atomic uint8_t *penalty, bool paid);

/*
 * The head was granted late: it had been the head for at least FS_PREEMPTED_NS.  Perhaps other programs have
 * the cores.  as_front: it joined as the head; others_wait: it was not alone.  Only where all threads
 * are of one process; before fs_awake_granted(), which forgets the core of the holder before.
 */
#define FS_PREEMPTED_NS 1000000
void fs_awake_preempted(const struct fs_awake *awake, bool as_front, bool others_wait, int64_t front_ns,
                   int64_t now_ns);

void fs_awake_learn_interval(struct fs_awake *awake, int64_t interval_ns);

/* The head was granted.  It joined on this core, and had been the head for so long; 0: unknown. */
static inline void fs_awake_granted(struct fs_awake *awake, int core, int64_t interval_ns)
{
    awake->holders_core = fs_core_byte(core);
    if (interval_ns != 0)
        fs_awake_learn_interval(awake, interval_ns);
}

/*
 * Learn from such a grant, in the thread that granted: would it have paid to be awake, or to be woken
 * ahead?  as_front: it joined as the head.
 */
void fs_awake_learn(struct fs_awake *awake, bool as_front, int64_t front_ns, int core);

/* The head has timed out.  If that came soon, a grant might have come soon, too, and there is no lesson. */
void fs_awake_learn_in_vain(struct fs_awake *awake, bool as_front, int64_t front_ns);

/*
 * Spin, or yield, until *word is no longer `value`, or until it is time to sleep: what *plan says.  A
 * thread that joined as the head passes the time of that, because another reading of the clock would
 * take as long as a cache line takes from core to core.  False: not for a moment.
 */
bool fs_awake_stay(const _Atomic int *word, int value, const _Atomic uint8_t *plan,
                   int64_t enqueued_ns, const struct fs_deadline *deadline);

/* A thread that slept, and was woken at that time, runs now: note how long that took. */
void fs_awake_note_wake_up(int64_t woken_ns);

/* One in 16 does, because it reads the clock: the low bits of the time are random enough. */
static inline void fs_awake_slept(int64_t woken_ns)
{
    if (woken_ns % 16 == 0)
        fs_awake_note_wake_up(woken_ns);
}

#endif
