/* SPDX-License-Identifier: MIT */
/*
 * ahead.h - the client of the policy of awake.h: which waiters of a semaphore stay awake, which are
 * pre-woken, and what is learned from that.  To be called in a section, and not with FS_NO_SPIN.
 *
 * On a machine with many cores the first waiters of the queue are near: they are awake, or have been
 * woken.  fs_awake_near() says how many should be.  A thread that is enqueued while there are fewer stays
 * awake; a thread that is enqueued later sleeps, and is pre-woken when it comes near.
 *
 *      front                           far
 *      [near] [near] [near] [near] [near] [far] [far] ...      (`near` of struct fs_waitq_node)
 *
 *      s->awake.near counts the near waiters, and s->far is the first waiter that is not near, or NULL.  (A
 *      waiter that becomes old jumps the queue, and need not be near.)  Tickets count like threads.
 */
#ifndef FS_AHEAD_H
#define FS_AHEAD_H

#include "count.h"
#include "sem.h"

/* A waiter has been enqueued.  A thread gets its strategy, and may pre-wake another thread. */
void fs_ahead_enqueued(struct fs_section *in, struct fs_waiter *w);
void fs_ahead_enqueued_ticket(struct fs_section *in, struct fs_waiter *w);

/* After grants, if the queue is not empty: pre-wake the waiters that come near. */
void fs_ahead_granted(struct fs_section *in, struct fs_waiter *front);

void fs_ahead_next_is_far(struct fs_sem *s);

/* The waiter is about to be dequeued. */
static inline void fs_ahead_dequeues(struct fs_sem *s, struct fs_waiter *w)
{
    if (w->in_queue.near)
        s->awake.near--;
    else if (s->far == w)
        fs_ahead_next_is_far(s);
}

/* The front has been dequeued: learn from how long it was the front. */
void fs_ahead_front_left(struct fs_section *in, const struct fs_ended *ended, enum fs_end end);

/* The front will be woken to compete, which counts as a grant in what the semaphore learns. */
void fs_ahead_woken_to_compete(struct fs_section *in, struct fs_waiter *front);

#endif
