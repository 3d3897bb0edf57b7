/* SPDX-License-Identifier: MIT */
/*
 * queueing.h - into a semaphore's queue, and out of it; and which of its waiters is awake early.
 *
 * All with the mutex held, between fs_lock() and fs_grant_and_unlock(): see section.h.
 */
#ifndef FS_QUEUEING_H
#define FS_QUEUEING_H

#include "deferred.h"
#include "sem.h"

#include <errno.h>

/* What must not pass a waiter of any priority, a try for instance, comes with this one. */
#define FS_LAST_PRIORITY INT32_MAX

/* Would a request for n units of this priority, coming now, have to wait? */
static inline bool fs_must_wait(const struct fs_sem *s, int64_t available, int64_t n, int priority)
{
    fs_assert_held(s);
    return fs_paused(s) || n > available || !fs_waitq_leads(&s->queue, priority);
}

/* In place of an error to return where a request would have to wait. */
#define FS_WAIT_IF_NEED_BE    0
#define FS_WAIT_THOUGH_CLOSED (-1)      /* fairsem_drain */

/* May it join?  0, or why not: a close reason, E2BIG, ENOBUFS, or `refusal` if it has to wait. */
int fs_admit(struct fs_sem *s, int64_t n, bool waits, int refusal);

/* Let w join, which has been admitted; `waits` as fs_must_wait() has said. */
void fs_join(struct fs_sem *s, struct fs_waiter *w, int priority, bool waits);

/*
 * w, a thread's, asks for its units: it joins, or is REFUSED, as fs_admit() says.  Returns what the
 * thread should do before it sleeps.
 */
enum fs_spin_kind fs_join_or_refuse(struct fs_sem *s, int64_t available, struct fs_waiter *w,
                                    int priority, int refusal);

/* Take w out of the queue, count it under the state that it goes to, and complete it. */
void fs_leave(struct fs_sem *s, struct fs_waiter *w, enum fs_waiter_state state,
              struct fs_deferred *deferred);

/* The head sleeps, and its predecessor has just been granted: wake it already, if that pays. */
void fs_wake_early(struct fs_sem *s, struct fs_deferred *deferred);

/* The head sleeps, and is to come for units that stay open; see bypass.h. */
void fs_wake_to_claim(struct fs_sem *s, struct fs_waiter *head, struct fs_deferred *deferred);

#endif
