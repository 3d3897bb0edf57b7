/* SPDX-License-Identifier: MIT */
/*
 * faults.pml - seeded faults: spin -DBUG=NAME makes the model wrong in one place.
 *
 * A model that cannot fail proves nothing.  check.sh wants each of these to be found, and by
 * the oracle that is there to find it.
 */
#define NONE                0
#define BARGING             1   /* the fast path does not look at SLOW */
#define TRY_PASSES          2   /* a try looks at the count and not at the line */
#define LIFO_LINE           3   /* who comes last is served first */
#define SMALL_FIRST         4   /* whoever fits is served, wherever he stands */
#define NO_CASCADE          5   /* a waiter gives up, and the grant loop does not run */
#define SERVES_ONE          6   /* the grant loop stops after one */
#define GRANT_BEFORE_DEBIT  7   /* the grant is visible before the debit */
#define SLOW_DROPPED        8   /* the word is given back without SLOW, the line is not empty */
#define SLOW_NOT_SET        9   /* fs_lock_line() reads the word and leaves it to the others */
#define EXPIRED_AND_GRANTED 10  /* a time-out that came too late counts */
#define ABANDONS_UNITS      11  /* pthread_cancel after the grant: the units are lost */
#define ABANDON_MAKES_UNITS 12  /* pthread_cancel in line gives back what it never had */
#define TOLD_BY_STORE       13  /* told_awake(): load and store for a compare-and-swap */
#define TOUCHES_GRANTED     14  /* the waiter's parker is read after the grant is visible */
#define WAKE_FORGOTTEN      15  /* a wake before the park is not remembered */
#define SLEEPS_BLINDLY      16  /* the sleep on a word does not compare it first */
#define WAKE_IS_GRANT       17  /* a wait without a loop: who wakes up is served */
#define NOT_DETACHED        19  /* the wait returns, its token still knows it */
#define CANCEL_SKIPS_IDLE   20  /* a token forgets who is on the way into the line */
#define TOUCHES_UNLOCKED    21  /* the releaser reads the semaphore after its unlock */
#define GRANTS_IN_BATCHES   22  /* two critical sections in one release (I9) */
#define PRIORITY_IGNORED    23  /* the line is in order of arrival alone */
#define DESTROYS_AT_ONCE    24  /* fairsem_destroy() does not take the mutex */
#define UNFAIR_MUTEX        25  /* not ours: what FAIR_MUTEX is for, see semaphore.pml */
#define ALERTS_SILENTLY     26  /* an alerted head is told to be awake, and nobody wakes it */
#define OPEN_KEPT           28  /* fs_lock_line() does not close the line */
#define CALLS_NOBODY        29  /* the line is opened, and its head sleeps on */
#define NO_CLAIM            30  /* a head that was called looks at its state, and parks again */
#define OPENS_TO_AWAKE      31  /* the line is opened although its head is awake */
#define BOUND_FORGOTTEN     32  /* the head is passed for ever */

#ifndef BUG
#define BUG NONE
#endif
