/* SPDX-License-Identifier: MIT */
/*
 * ahead.h - who in the queue stays awake, who is woken ahead of its turn, and what is learned from that:
 * what awake.h decides is done here.  In a section, for all of this, and not if all sleep at once.
 *
 * On a machine with many cores the first waiters of the queue are near: they are awake, or have been
 * woken.  A thread that joins while fewer than so many are near stays awake; one that joins later
 * sleeps, and is woken when those before it have become fewer.
 *
 *      head                            far
 *      [near] [near] [near] [near] [near] [far] [far] ...      each: near, in struct fs_waitq_node
 *
 *      s->awake.near counts them, and s->far is the first that is not; NULL: all are near.  (A waiter that
 *      becomes old jumps the queue, and need not be near.)  A ticket is counted like a thread.
 */
#ifndef FS_AHEAD_H
#define FS_AHEAD_H

#include "count.h"
#include "sem.h"

/* A thread has joined: it stays awake, or not, and may wake another one ahead. */
void fs_ahead_enqueued(struct fs_section *in, struct fs_waiter *w);
void fs_ahead_enqueued_ticket(struct fs_section *in, struct fs_waiter *w);

/* After grants, if somebody waits still: wake those that come near. */
void fs_ahead_granted(struct fs_section *in, struct fs_waiter *head);

void fs_ahead_next_is_far(struct fs_sem *s);

/* It is about to leave the queue. */
static inline void fs_ahead_dequeues(struct fs_sem *s, struct fs_waiter *w)
{
    if (w->in_queue.near)
        s->awake.near--;
    else if (s->far == w)
        fs_ahead_next_is_far(s);
}

/* The head has left the queue: learn from the time that it took. */
void fs_ahead_front_left(struct fs_section *in, const struct fs_ended *ended, enum fs_end end);

/* The head is to be woken to compete.  It counts as a grant for what the semaphore learns. */
void fs_ahead_woken_to_compete(struct fs_section *in, struct fs_waiter *head);

#endif
