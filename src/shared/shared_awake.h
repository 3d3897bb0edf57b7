/* SPDX-License-Identifier: MIT */
/*
 * shared_awake.h - the core's policy of staying awake, between processes: awake.h.
 *
 * A slot's `plan` is an enum fs_strategy, or FS_SLOT_SLEEPS, which its thread writes without the lock.
 * So a plan may be lost, which is as if nobody had given it.
 */
#ifndef FS_SHARED_AWAKE_H
#define FS_SHARED_AWAKE_H

#include "shared/trust.h"

/* For the thread that waits. */
struct fs_shared_awake {
    int  core;      /* where it joined */
    bool as_front;   /* it has joined as the head */
};

/*
 * The thread of this slot has just joined, and wants n units.  Returns the slot whose thread is to be
 * woken ahead, or FS_NOBODY.  The lock is held.
 */
int fs_shared_awake_begin(struct fs_shared_awake *awake, struct fs_shared_section *in, int slot,
                          int64_t n, int64_t enqueued_ns);

/*
 * Before each sleep.  False: the wait is over, or canceled.  True: whoever joins may tell this thread
 * that it is next.  No lock held.
 */
bool fs_shared_stay_awake(fairsem_shared_t *h, int slot, int64_t enqueued_ns,
                          const struct fs_deadline *deadline);

/* The wait is over, or canceled, and its thread has slept.  No lock held. */
void fs_shared_awake_slept(const fairsem_shared_t *h, int slot, int64_t enqueued_ns);

/* This head is granted now; it had joined on that core.  The lock is held. */
void fs_shared_awake_granted(fairsem_shared_t *h, int head, int core, int64_t now_ns);

/* The thread of this slot, which was granted, learns from that.  The lock is held. */
void fs_shared_awake_learn(const struct fs_shared_awake *awake, fairsem_shared_t *h, int slot,
                           int64_t enqueued_ns);

/* This thread has timed out, and learns from that.  The lock is held. */
void fs_shared_awake_learn_in_vain(const struct fs_shared_awake *awake, fairsem_shared_t *h,
                                   int64_t enqueued_ns);

#endif
