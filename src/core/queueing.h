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

/* Would a request for n units have to wait?  The head is the one that was last noted. */
static inline bool fs_must_wait(const struct fs_sem *s, int64_t available, int64_t n, int priority)
{
    fs_assert_held(s);
    return !fs_fits(s, available, n) || !fs_waitq_leads(&s->queue, priority);
}

/* If a request would have to wait, and for fairsem_drain() also if the semaphore is closed. */
enum fs_patience {
    FS_WAITS,
    FS_TRIES,               /* EAGAIN */
    FS_OUT_OF_TIME,         /* the deadline has passed: ETIMEDOUT */
    FS_DRAINS,              /* waits, closed or not */
    FS_DRAINS_OUT_OF_TIME,  /* ETIMEDOUT */
};

/* May it join?  0, or why not: a close reason, E2BIG, ENOBUFS, or as its patience says. */
int fs_admit(struct fs_sem *s, int64_t n, bool waits, enum fs_patience patience);

/* Let w join after fs_admit() has said yes; `waits` is the result of fs_must_wait(). */
void fs_join(struct fs_sem *s, struct fs_waiter *w, int priority, bool waits);

/* Let the waiter of a thread join, or make it REFUSED, as fs_admit() says. */
void fs_join_or_refuse(struct fs_sem *s, int64_t available, struct fs_waiter *w, int priority,
                       enum fs_patience patience, struct fs_deferred *deferred);

/* When will a request that has joined be old, if it still waits?  0: never. */
static inline int64_t fs_old_at_ns(const struct fs_sem *s, const struct fs_waiter *w)
{
    if (s->aging_ns == 0 || !fs_had_to_wait(w))
        return 0;
    return s->aging_ns < INT64_MAX - w->joined_ns ? w->joined_ns + s->aging_ns : 0;
}

/*
 * attr.aging_ns: the oldest request comes before all others once it has waited for so long.  Time
 * makes it old, not an event, so that is noted before anything depends on who is the head.  Returns
 * the head.
 */
struct fs_waitq_node *fs_note_age(struct fs_sem *s, struct fs_deferred *deferred);

/* The same for all requests, because somebody wants to see the whole queue. */
void fs_note_ages(struct fs_sem *s, struct fs_deferred *deferred);

/* The head by now; NULL: nobody waits. */
static inline struct fs_waitq_node *fs_head_now(struct fs_sem *s, struct fs_deferred *deferred)
{
    return s->aging_ns == 0 ? s->queue.front : fs_note_age(s, deferred);
}

/* The head when that was last noted. */
static inline struct fs_waitq_node *fs_head(const struct fs_sem *s)
{
    return s->aging_ns == 0 ? s->queue.front : fs_waitq_first(&s->queue);
}

/* Take w out of the queue, complete it with this state, and count it. */
void fs_leave(struct fs_sem *s, struct fs_waiter *w, enum fs_waiter_state state,
              struct fs_deferred *deferred);

/* Wake the new head ahead of its turn, if that pays off, and if it is up to the granter. */
void fs_wake_next(struct fs_sem *s, struct fs_deferred *deferred);

/* Wake the sleeping head to claim units while the queue is open; see bypass.h. */
void fs_wake_to_claim(struct fs_sem *s, struct fs_waiter *head, struct fs_deferred *deferred);

#endif
