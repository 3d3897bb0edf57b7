/* SPDX-License-Identifier: MIT */
/*
 * bypass.h - FAIRSEM_BOUNDED_BYPASS: running threads may take free units ahead of sleeping waiters, until
 * the front has waited for bypass_ns.
 *
 * A strict hand-off leaves a unit unused while the granted thread wakes up.  With bounded bypass, a release
 * does not grant a sleeping front, but wakes it to compete.  Until the front arrives, CONTENDED stays
 * clear, so the ordinary fast path is the bypass: any running thread takes and returns units.  The arriving
 * front enters a section, which grants the front if enough units are free.  If not, the front sleeps again,
 * in its place, and CONTENDED is set.  (Waiters of most other semaphores, such as sem_t, compete like this
 * without a bound.)
 *
 * A thread that finds no free unit stays awake for a moment before it is enqueued, and takes part in the
 * bypass: acquire.c.  So a few threads circulate and keep the semaphore busy, and all others sleep until
 * bypass_ns has passed (Dice, "Malthusian Locks", 2017).  (A buffer with several producers and consumers
 * passes about nine times as many items as if each thread were enqueued at once; see doc/awake.md.)
 *
 * There is no timer.  The next release in a section grants a front that has waited for bypass_ns.  Either
 * CONTENDED is set, so the next release is in a section; or the front is on its way, and sets CONTENDED
 * when it arrives.  (So the bound depends on the scheduler: CONTENDED stays clear while the front, or the
 * thread that wakes it, is kept from running.)
 */
#ifndef FS_BYPASS_H
#define FS_BYPASS_H

#include "sem.h"

/* ---- With bounded bypass, in a section ---- */

/* May a running thread take n units although the queue is not empty?  Not if n is 0. */
bool fs_bypass_may_pass(struct fs_section *in, int64_t n);

/* Wake the front, which fits, to compete.  Returns false if the front must be granted directly. */
bool fs_bypass_wake_front(struct fs_section *in, struct fs_waiter *front);

#endif
