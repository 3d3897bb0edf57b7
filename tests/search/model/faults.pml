/* SPDX-License-Identifier: MIT */
/*
 * faults.pml - seeded faults: spin -DBUG=NAME makes the model wrong in one place.
 *
 * A model that cannot fail proves nothing.  check.sh requires that each fault is found, and by
 * the oracle that is meant to find it.
 */
#define NONE                0
#define BARGING             1   /* the fast path ignores SLOW */
#define TRY_PASSES          2   /* a try checks the count and not the queue */
#define LIFO_QUEUE          3   /* the waiter that came last is granted first */
#define SMALL_FIRST         4   /* a request that fits is granted anywhere in the queue */
#define NO_CASCADE          5   /* a wait is aborted, and the grant loop does not run */
#define GRANTS_ONE          6   /* the grant loop stops after one grant */
#define GRANT_BEFORE_DEBIT  7   /* the grant is visible before the debit */
#define SLOW_DROPPED        8   /* the word is given back without SLOW; the queue is not empty */
#define SLOW_NOT_SET        9   /* fs_section_lock() only reads the word; others may change it */
#define EXPIRED_AND_GRANTED 10  /* a timeout that comes after the grant counts */
#define ABANDONS_UNITS      11  /* pthread_cancel after the grant: the units are lost */
#define ABANDON_MAKES_UNITS 12  /* pthread_cancel before the grant gives back units it never had */
#define COMPLETED_BY_STORE  13  /* complete_thread(): a load and a store, not a compare-and-swap */
#define TOUCHES_GRANTED     14  /* the waiter's parker is read after the grant is visible */
#define WAKE_FORGOTTEN      15  /* a wake before the park is not remembered */
#define SLEEPS_BLINDLY      16  /* the sleep on a word does not compare it first */
#define WAKE_IS_GRANT       17  /* a wait without a loop: every wake-up counts as a grant */
#define NOT_DETACHED        19  /* the wait returns, but its token still lists it */
#define CANCEL_SKIPS_COMING 20  /* a token ignores a thread that is about to join the queue */
#define TOUCHES_UNLOCKED    21  /* the releaser reads the semaphore after its unlock */
#define GRANTS_IN_BATCHES   22  /* two critical sections in one release (I9) */
#define PRIORITY_IGNORED    23  /* the queue is in order of arrival only */
#define DESTROYS_AT_ONCE    24  /* fairsem_destroy() does not take the mutex */
#define UNFAIR_MUTEX        25  /* not in the library: why FAIR_MUTEX is needed, see section.pml */
#define WOKEN_BUT_ASLEEP    26  /* an early wake changes the state, but does not wake the thread */
#define OPEN_KEPT           28  /* fs_section_lock() does not close the queue */
#define OPENS_SILENTLY      29  /* the queue is opened, and its head is not woken to claim */
#define NO_CLAIM            30  /* a head that was woken to claim does not, and parks again */
#define OPENS_TO_AWAKE      31  /* the queue is opened although its head is awake */
#define BOUND_FORGOTTEN     32  /* the head may be passed for ever */

#define AGE_IGNORED         33  /* no request becomes old */
#define NEWCOMERS_PASS_OLD  34  /* a better newcomer joins before an old request */

#ifndef BUG
#define BUG NONE
#endif
