/* SPDX-License-Identifier: MIT */
/*
 * ahead.h - the client of the policy of awake.h: which waiters of a semaphore stay awake, which are
 * pre-woken, and what is learned from that.  In a section, for all of this, and not with FS_NO_SPIN.
 *
 * On a machine with many cores the first waiters of the queue are near: they are awake, or have been
 * woken.  fs_awake_near() says how many should be.  A thread that is enqueued while there are fewer stays
 * awake; a later one sleeps, and is woken when it comes near.
 *
 *      front                           far
 *      [near] [near] [near] [near] [near] [far] [far] ...      each: near, in struct fs_waitq_node
 *
 *      s->awake.near counts them, and s->far is the first that is not, or NULL if all are near.  (A waiter
 *      that becomes old jumps the queue, and need not be near.)  A ticket is counted like a thread.
 */
#ifndef FS_AHEAD_H
#define FS_AHEAD_H

#include "count.h"
#include "sem.h"

/* It has been enqueued.  A thread stays awake, or not, and may pre-wake another one. */
void fs_ahead_enqueued(struct fs_section *in, struct fs_waiter *w);
void fs_ahead_enqueued_ticket(struct fs_section *in, struct fs_waiter *w);

/* After grants, if the queue is not empty: wake the waiters that come near. */
void fs_ahead_granted(struct fs_section *in, struct fs_waiter *front);

void fs_ahead_next_is_far(struct fs_sem *s);

/* It is about to be dequeued. */
static inline void fs_ahead_dequeues(struct fs_sem *s, struct fs_waiter *w)
{
    if (w->in_queue.near)
        s->awake.near--;
    else if (s->far == w)
        fs_ahead_next_is_far(s);
}

/* The front has been dequeued: learn from the time that it was the front. */
void fs_ahead_front_left(struct fs_section *in, const struct fs_ended *ended, enum fs_end end);

/* The front will be woken to compete, which counts as a grant for what the semaphore learns. */
void fs_ahead_woken_to_compete(struct fs_section *in, struct fs_waiter *front);

#endif
