/* SPDX-License-Identifier: MIT */
/*
 * bypass.h - FAIRSEM_BOUNDED_BYPASS: running threads may take a free unit ahead of sleeping
 * threads, until the oldest of these has waited for as long as the semaphore allows.
 *
 * A strict hand-off leaves a unit unused while the thread that was granted it wakes up.  With
 * bounded bypass the unit is not granted to a sleeper.  The front waiter is woken to compete, and until
 * it arrives CONTENDED stays clear, so the ordinary fast path is the bypass: any running thread takes and
 * returns units.  When the front waiter arrives it enters a section, which grants it its units if there
 * are enough; otherwise it goes back to sleep, in its place, and CONTENDED is set.  (The waiters of most
 * semaphores do the same, those of sem_t among them, but there without a bound.)
 *
 * A thread that finds no free unit stays awake for a moment before it is enqueued, as one of those that
 * run: acquire.c.  So a few threads circulate and keep the semaphore busy, and all others sleep until
 * their bound (Dice, "Malthusian Locks", 2017).  (Buffer of 8 slots, 4 producers and 4 consumers, 2 cores:
 * 180,000 items a second if each is enqueued at once, 1.4 million if it stays awake first; sem_t 0.75
 * million.)
 *
 * There is no timer.  A front waiter that has waited too long is granted directly by the next release:
 * either CONTENDED is set, and the release takes the mutex and sees it, or the waiter is on its way, and sets
 * CONTENDED as soon as it arrives.  (So the bound depends on the scheduler: CONTENDED stays clear while the waker
 * or the waiter is kept from running.)
 */
#ifndef FS_BYPASS_H
#define FS_BYPASS_H

#include "sem.h"

/* ---- With bounded bypass, in a section ---- */

/* May a running thread take n units although the queue is not empty?  A request for 0 passes nobody. */
bool fs_bypass_may_pass(struct fs_section *in, int64_t n);

/* The front fits.  Returns true if it was woken to compete, and so is not granted its units now. */
bool fs_bypass_wake_front(struct fs_section *in, struct fs_waiter *front);

#endif
