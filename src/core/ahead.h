/* SPDX-License-Identifier: MIT */
/*
 * ahead.h - the policy of awake.h, applied to a semaphore: which waiters stay awake, which are pre-woken,
 * and what the semaphore learns.  Called in a section, and not with FS_NO_SPIN.
 *
 * With many cores, the first waiters of the queue are near: awake, or pre-woken.  fs_awake_near() says how
 * many should be near.  A thread that is enqueued while fewer are near stays awake.  Any other thread
 * sleeps, and is pre-woken when its waiter becomes near.
 *
 *      front                           far
 *      [near] [near] [near] [near] [near] [far] [far] ...      (`near` of struct fs_waitq_node)
 *
 * s->awake.near counts the near waiters, and s->far is the first waiter that is not near, or NULL.  (A
 * waiter that ages moves to the front, and need not be near.)  Tickets count like threads.
 */
#ifndef FS_AHEAD_H
#define FS_AHEAD_H

#include "count.h"
#include "sem.h"

/* To be called when w has been enqueued: choose the strategy of its thread, and perhaps pre-wake another. */
void fs_ahead_enqueued(struct fs_section *in, struct fs_waiter *w);
void fs_ahead_enqueued_ticket(struct fs_section *in, struct fs_waiter *w);

/* To be called after grants, if the queue is not empty: pre-wake the front, and waiters that become near. */
void fs_ahead_granted(struct fs_section *in, struct fs_waiter *front);

void fs_ahead_next_is_far(struct fs_sem *s);

/* To be called before w is dequeued. */
static inline void fs_ahead_dequeues(struct fs_sem *s, struct fs_waiter *w)
{
    if (w->in_queue.near)
        s->awake.near--;
    else if (s->far == w)
        fs_ahead_next_is_far(s);
}

/* To be called when the front has been dequeued: learn from the time for which this waiter was the front. */
void fs_ahead_front_left(struct fs_section *in, const struct fs_ended *ended, enum fs_end end);

/* To be called before the front is woken to compete: learn from the wake as from a grant. */
void fs_ahead_woken_to_compete(struct fs_section *in, struct fs_waiter *front);

#endif
