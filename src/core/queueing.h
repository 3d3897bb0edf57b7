/* SPDX-License-Identifier: MIT */
/*
 * queueing.h - how a waiter joins and leaves a semaphore's queue, and when the head is woken early.
 *
 * The mutex is held for all of this, between fs_lock() and fs_grant_and_unlock(): see section.h.
 */
#ifndef FS_QUEUEING_H
#define FS_QUEUEING_H

#include "deferred.h"
#include "sem.h"

#include <errno.h>

/* The priority of a call that must not pass a waiter of any priority, for instance a try. */
#define FS_LAST_PRIORITY INT32_MAX

/* Would a request for n units with this priority have to wait now? */
static inline bool fs_must_wait(const struct fs_sem *s, int64_t available, int64_t n, int priority)
{
    fs_assert_held(s);
    return !fs_fits(s, available, n) || !fs_waitq_leads(&s->queue, priority);
}

/* Values for `refusal`, which otherwise is the error to return if a request would have to wait. */
#define FS_WAIT_IF_NEED_BE    0
#define FS_WAIT_THOUGH_CLOSED (-1)      /* fairsem_drain */
#define FS_TRY_THOUGH_CLOSED  (-2)      /* the same, out of time: ETIMEDOUT if it has to wait */

/* May it join?  0, or why not: a close reason, E2BIG, ENOBUFS, or `refusal` if it has to wait. */
int fs_admit(struct fs_sem *s, int64_t n, bool waits, int refusal);

/* Let w join after fs_admit() has said yes; `waits` is the result of fs_must_wait(). */
void fs_join(struct fs_sem *s, struct fs_waiter *w, int priority, bool waits);

/*
 * Let the waiter of a thread join, or make it REFUSED, as fs_admit() says.  Returns what the thread
 * should do before it sleeps.
 */
enum fs_spin_kind fs_join_or_refuse(struct fs_sem *s, int64_t available, struct fs_waiter *w,
                                    int priority, int refusal, struct fs_deferred *deferred);

/* Are there so many waiters that most of them sleep or yield?  See stay_awake.h. */
static inline bool fs_is_crowd(const struct fs_sem *s)
{
    return s->waiters > FS_FEW;
}

/* Take w out of the queue, complete it with this state, and count it. */
void fs_leave(struct fs_sem *s, struct fs_waiter *w, enum fs_waiter_state state,
              struct fs_deferred *deferred);

/* Wake the head early, if that pays off, and if it is up to the granter. */
void fs_wake_early(struct fs_sem *s, struct fs_deferred *deferred);

/* Wake the sleeping head to claim units while the queue is open; see bypass.h. */
void fs_wake_to_claim(struct fs_sem *s, struct fs_waiter *head, struct fs_deferred *deferred);

#endif
