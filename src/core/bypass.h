/* SPDX-License-Identifier: MIT */
/*
 * bypass.h - FAIRSEM_BOUNDED_BYPASS: running threads may take a free unit ahead of sleeping
 * threads, until the oldest of these has waited for as long as the semaphore allows.
 *
 * A strict hand-off leaves a unit unused while the thread that was granted it wakes up.  With
 * bounded bypass the unit is not granted to a sleeper.  The head of the queue is woken to claim,
 * and the queue is open until the head arrives.  While it is open, any running thread takes and
 * returns units with one compare-and-swap.  When the head arrives it is granted its units if there
 * are enough; otherwise it goes back to sleep, in its place.  (The waiters of most semaphores do
 * the same, those of sem_t among them, but there without a bound.)
 *
 *      word:   SLOW clear           nobody waits: the fast path
 *              SLOW, OPEN clear     only the mutex holder changes it (I3); the head does not fit
 *              SLOW and OPEN        the head fits, is woken and on its way: any thread changes it
 *
 * A thread that finds no free unit stays awake for a moment before it joins, as one of those that run:
 * acquire.c.  So a few threads circulate and keep the semaphore busy, and all others sleep until
 * their bound (Dice, "Malthusian Locks", 2017).  (Buffer of 8 slots, 4 producers and 4 consumers, 2 cores:
 * 180,000 items a second if each joins at once, 1.4 million so; sem_t 0.75 million.)
 *
 * There is no timer.  A head that has waited too long is granted directly by the next release:
 * either the queue is not open, and the release holds the mutex and sees it, or the head is on its
 * way, and the queue is closed as soon as it arrives.  (So the bound depends on the scheduler: the
 * queue stays open while the waker or the head is kept from running.)
 *
 * Of the operations without the mutex, fast_path.h has the loops.
 */
#ifndef FS_BYPASS_H
#define FS_BYPASS_H

#include "fast_path.h"

/* ---- Without the mutex, while the queue is open ---- */

static inline bool fs_bypass_acquire(struct fs_sem *s, int64_t n)
{
    return s->bypass_ns != 0 && n > 0 && fs_take(&s->word, n, FS_OPEN);
}

static inline int64_t fs_bypass_acquire_upto(struct fs_sem *s, int64_t max)
{
    return s->bypass_ns != 0 ? fs_take_upto(&s->word, max, FS_OPEN) : -1;
}

static inline bool fs_bypass_release(struct fs_sem *s, int64_t n)
{
    return s->bypass_ns != 0 && fs_give(s, n, FS_OPEN);
}

/* ---- In a section ---- */

bool fs_bypass_may_pass(struct fs_section *in, int64_t n);
bool fs_bypass_wake_head(struct fs_section *in, struct fs_waiter *head);

/* May a running thread take n units although the queue is not empty?  A request for 0 passes nobody. */
static inline bool fs_bypass_passes(struct fs_section *in, int64_t n)
{
    return in->sem->bypass_ns != 0 && fs_bypass_may_pass(in, n);
}

/* The head fits: wake it to claim, rather than grant it?  True: it is woken, so the queue is open. */
static inline bool fs_bypass_open_for(struct fs_section *in, struct fs_waiter *head)
{
    return in->sem->bypass_ns != 0 && fs_bypass_wake_head(in, head);
}

#endif
