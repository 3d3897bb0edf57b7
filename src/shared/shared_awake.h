/* SPDX-License-Identifier: MIT */
/*
 * shared_awake.h - the core's wait strategy (awake.h), between processes.
 *
 * A slot's `strategy` is an enum fs_strategy, or FS_SLOT_SLEEPS, which allows a pre-wake.  The slot's
 * thread stores FS_SLOT_SLEEPS without the lock, so a strategy that another thread stores at that moment
 * may be lost.  In that case the slot's thread only sleeps instead of staying awake.
 *
 * The lock is held, except in fs_shared_stay_awake() and fs_shared_awake_slept().
 */
#ifndef FS_SHARED_AWAKE_H
#define FS_SHARED_AWAKE_H

#include "shared/trust.h"

/* Data that only the waiting thread uses. */
struct fs_shared_awake {
    int  core;      /* core at the enqueue, or FS_NO_CORE */
    bool as_front;  /* enqueued as the front */
};

/*
 * Set the strategy of a slot that has been enqueued, and wants n units.  Returns the slot whose thread is
 * to be pre-woken, or FS_NOBODY.
 */
int fs_shared_awake_begin(struct fs_shared_awake *awake, struct fs_shared_section *in, int slot,
                          int64_t n, int64_t enqueued_ns);

/*
 * Before each sleep: spin or yield for a while.  Returns true if the thread must sleep, or false if the
 * slot is no longer WAITING.
 */
bool fs_shared_stay_awake(fairsem_shared_t *h, int slot, int64_t enqueued_ns,
                          const struct fs_deadline *deadline);

/* After a wait in which the thread has slept: measure how long its wake-up took. */
void fs_shared_awake_slept(const fairsem_shared_t *h, int slot, int64_t enqueued_ns);

/* After a grant to the front waiter, which was enqueued on `core`: learn the hand-off interval. */
void fs_shared_awake_granted(fairsem_shared_t *h, int front, int core, int64_t now_ns);

/* Learn from a grant whether staying awake pays; called by the slot's thread. */
void fs_shared_awake_learn(const struct fs_shared_awake *awake, fairsem_shared_t *h, int slot,
                           int64_t enqueued_ns);

/* As fs_shared_awake_learn(), after a time-out. */
void fs_shared_awake_learn_timed_out(const struct fs_shared_awake *awake, fairsem_shared_t *h,
                                   int64_t enqueued_ns);

#endif
