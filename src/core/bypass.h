/* SPDX-License-Identifier: MIT */
/*
 * bypass.h - FAIRSEM_BOUNDED_BYPASS: running threads may take a free unit ahead of sleeping
 * threads, until the oldest of these has waited for as long as the semaphore allows.
 *
 * A strict hand-off leaves a unit unused while the granted thread wakes up.  With bounded bypass the
 * unit is not granted to a sleeper.  The front waiter is woken to compete, and until it arrives
 * CONTENDED stays clear, so the ordinary fast path is the bypass: any running thread takes and returns
 * units.  When the front waiter arrives it enters a section, which grants it its units if there are
 * enough; otherwise it goes back to sleep, in its place, and CONTENDED is set.  (The waiters of most
 * other semaphores, such as sem_t, compete in this way, too, but without a bound.)
 *
 * A thread that finds no free unit stays awake for a moment before it is enqueued, and takes part in
 * the bypass: acquire.c.  So a few threads circulate and keep the semaphore busy, and all others sleep
 * until their bound (Dice, "Malthusian Locks", 2017).  (A buffer with several producers and consumers
 * passes about eight times as many items; see doc/awake.md.)
 *
 * There is no timer.  A front waiter that has waited too long is granted directly by the next release:
 * either CONTENDED is set, and the release locks the mutex and finds the waiter, or the waiter is on
 * its way, and sets CONTENDED when it arrives.  (So the bound depends on the scheduler: CONTENDED stays
 * clear while the waker or the waiter is kept from running.)
 */
#ifndef FS_BYPASS_H
#define FS_BYPASS_H

#include "sem.h"

/* ---- With bounded bypass, in a section ---- */

/* May a running thread take n units although the queue is not empty?  A request for 0 passes nobody. */
bool fs_bypass_may_pass(struct fs_section *in, int64_t n);

/* Wake the front, which fits, to compete.  Returns false if it is to be granted its units now instead. */
bool fs_bypass_wake_front(struct fs_section *in, struct fs_waiter *front);

#endif
