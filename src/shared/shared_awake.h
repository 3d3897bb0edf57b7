/* SPDX-License-Identifier: MIT */
/*
 * shared_awake.h - the core's wait strategy (awake.h), between processes.
 *
 * A slot's `strategy` is an enum fs_strategy, or FS_SLOT_SLEEPS, which its thread writes without the lock.
 * So a strategy that another thread stores at the same time may be lost, which does no harm.
 */
#ifndef FS_SHARED_AWAKE_H
#define FS_SHARED_AWAKE_H

#include "shared/trust.h"

/* Data of a wait that only its own thread uses. */
struct fs_shared_awake {
    int  core;      /* on which it was enqueued */
    bool as_front;  /* it was enqueued at the front */
};

/*
 * Called when a slot that wants n units has been enqueued.  Returns the slot whose thread is to be pre-woken,
 * or FS_NOBODY.  The lock is held.
 */
int fs_shared_awake_begin(struct fs_shared_awake *awake, struct fs_shared_section *in, int slot,
                          int64_t n, int64_t enqueued_ns);

/*
 * Called before each sleep: spin or yield for a while.  Returns false if the wait is over, or canceled; or
 * true if the thread must sleep.  After true, a thread that enqueues a request may pre-wake this one.  The
 * lock is not held.
 */
bool fs_shared_stay_awake(fairsem_shared_t *h, int slot, int64_t enqueued_ns,
                          const struct fs_deadline *deadline);

/* Called after a wait in which the thread has slept.  The lock is not held. */
void fs_shared_awake_slept(const fairsem_shared_t *h, int slot, int64_t enqueued_ns);

/* Called when the front waiter is granted; `core` is the one on which it was enqueued.  The lock is held. */
void fs_shared_awake_granted(fairsem_shared_t *h, int head, int core, int64_t now_ns);

/* Learn from the grant to this slot; called by its thread.  The lock is held. */
void fs_shared_awake_learn(const struct fs_shared_awake *awake, fairsem_shared_t *h, int slot,
                           int64_t enqueued_ns);

/* Learn from a time-out; called by the thread that has timed out.  The lock is held. */
void fs_shared_awake_learn_in_vain(const struct fs_shared_awake *awake, fairsem_shared_t *h,
                                   int64_t enqueued_ns);

#endif
