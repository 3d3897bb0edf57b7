/* SPDX-License-Identifier: MIT */
/*
 * ahead.h - who in the queue stays awake, and who is woken ahead of its turn: what awake.h decides is
 * done here.  In a section, for all of this.
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

#include "sem.h"

void fs_ahead_place(struct fs_section *in, struct fs_waiter *w, bool is_the_head);
void fs_ahead_place_ticket(struct fs_sem *s, struct fs_waiter *w);

/* A thread has joined: it stays awake, or not, and may wake another one ahead. */
static inline void fs_ahead_joined(struct fs_section *in, struct fs_waiter *w, bool is_the_head)
{
    w->in_queue.near = false;
    if (!in->sem->sleeps_at_once)
        fs_ahead_place(in, w, is_the_head);
}

/* A ticket has joined. */
static inline void fs_ahead_joined_ticket(struct fs_sem *s, struct fs_waiter *w)
{
    w->in_queue.near = false;
    if (!s->sleeps_at_once)
        fs_ahead_place_ticket(s, w);
}

/* After grants, if somebody waits still: wake those that come near. */
void fs_ahead_granted(struct fs_section *in, struct fs_waiter *head);

void fs_ahead_next_is_far(struct fs_sem *s);

/* It is about to leave the queue. */
static inline void fs_ahead_leaves(struct fs_sem *s, struct fs_waiter *w)
{
    if (w->in_queue.near)
        s->awake.near--;
    else if (s->far == w)
        fs_ahead_next_is_far(s);
}

#endif
