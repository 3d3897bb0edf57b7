/* SPDX-License-Identifier: MIT */
/*
 * fairsem.h - a fair, blocking, counting semaphore for multithreaded C programs.
 *
 * THE PROMISE.  A unit that becomes free goes to the waiter that has waited
 * longest, and nobody who comes later can take it first.
 *
 * Example:
 *
 *     #include <fairsem.h>
 *
 *     static fairsem_t slots = FAIRSEM_INITIALIZER_BOUNDED(4, 4);     // free, and the capacity
 *
 *     int main(void)
 *     {
 *         if (fairsem_acquire(&slots, 1) != 0)
 *             return 1;
 *         // at most four threads are here
 *         fairsem_release(&slots, 1);
 *         return 0;
 *     }
 *
 * To build it:  cc prog.c $(pkg-config --cflags --libs fairsem)
 *
 * ALL FUNCTIONS, from simple to special.  This header is the contract.  Each function has a manual
 * page under its own name (man fairsem_drain), with the reasons, the fine print and more examples;
 * fairsem(7) is about all of them.
 *
 *     1  acquire and release
 *         fairsem_acquire             take units; wait in the queue until they are free
 *         fairsem_tryacquire          take units now or not at all
 *         fairsem_tryacquire_upto     take what is free now, up to a number
 *         fairsem_release             give units back; the oldest waiters get them
 *     2  the object
 *         fairsem_init                initialize, with a capacity, a name, flags
 *         fairsem_destroy             the end of a semaphore
 *         fairsem_new                 allocate one, for other languages
 *         fairsem_free                the end of one that was allocated
 *         fairsem_counted_init        initialize one that also counts its waits by length
 *     3  deadlines, priorities, tokens, shares
 *         fairsem_acquire_for         wait for at most a time in nanoseconds
 *         fairsem_acquire_until       wait until a time on a clock
 *         fairsem_acquire_with        with a time limit, a priority, a token, a share
 *         fairsem_acquire_all         units of several semaphores, all or none
 *         fairsem_release_all         give units of several semaphores back
 *         fairsem_token_init          a token: a switch that ends many waits
 *         fairsem_token_destroy       the end of a token
 *         fairsem_token_cancel        end all waits that use a token
 *         fairsem_token_reason        has a token been canceled, and why?
 *         fairsem_share_init          a share: units go round between clients
 *         fairsem_share_destroy       the end of a share
 *         fairsem_share_charge        count more units for a share, or fewer
 *     4  capacity, debt, close
 *         fairsem_capacity            how many units are there?
 *         fairsem_set_capacity        change the capacity; 0 is a pause
 *         fairsem_consume             take units that are not free: a debt
 *         fairsem_close               end all waits for good, with a reason
 *         fairsem_closed              is the semaphore closed, and why?
 *         fairsem_drain               close, and wait until nobody holds units
 *     5  inspect
 *         fairsem_available           free units
 *         fairsem_waiters             requests in the queue
 *         fairsem_would_block         would an acquire wait?
 *         fairsem_stat                figures, all of one moment
 *         fairsem_stat_interval       figures, with the maxima since its last call
 *         fairsem_stat_histogram      the number of waits of each length
 *         fairsem_dump                who waits, as text
 *     6  units: a guard that knows what it holds
 *         fairsem_units_acquire       acquire into a guard
 *         fairsem_units_tryacquire    try into a guard
 *         fairsem_units_adopt         put units that you hold into a guard
 *         fairsem_units_release       release all units of a guard
 *         fairsem_units_return        release some units of a guard
 *         fairsem_units_split         move some units into another guard
 *         fairsem_units_merge         put two guards together
 *         fairsem_units_forget        take the units out of the guard
 *         fairsem_with                acquire, call a function, release
 *     7  tickets: a place in the queue without a blocked thread
 *         fairsem_ticket_take         take units, or a place in the queue
 *         fairsem_ticket_take_with    fairsem_ticket_take with a share
 *         fairsem_ticket_state        does a ticket still wait?
 *         fairsem_ticket_wait         block until a ticket no longer waits
 *         fairsem_ticket_claim        make a ticket's units yours
 *         fairsem_ticket_return       leave the queue, or give the units on
 *     8  version, limits
 *         fairsem_version             the version of the library that runs
 *         fairsem_strerror            a result in words
 */
#ifndef FAIRSEM_H
#define FAIRSEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h> /* clockid_t, also where <time.h> keeps to ISO C */
#include <time.h>

#include <fairsem_private.h>

#ifdef __cplusplus
extern "C" {
#endif

FAIRSEM_CHECK_LAYOUT_(fairsem);

/* ======================================================================== *
 *  1  Acquire and release
 *     fairsem_init(3), fairsem_acquire(3), fairsem_release(3)
 * ======================================================================== */

/* The semaphore.  Put it where you like, but never move or copy it.  Its members are private. */
typedef struct FAIRSEM_TAG_ {
    FAIRSEM_ALIGNED_ int64_t fairsem_word_;
    int64_t         fairsem_limit_;
    pthread_mutex_t fairsem_mutex_;
    unsigned char   fairsem_reserved_[FAIRSEM_BYTES_ - 24 - sizeof(pthread_mutex_t)];
    int64_t         fairsem_units_;
} fairsem_t;

/* A static, unbounded semaphore, ready for use.  units: 0 .. FAIRSEM_MAX_UNITS, not checked. */
#define FAIRSEM_INITIALIZER(units) FAIRSEM_INITIALIZER_(units, FAIRSEM_MAX_UNITS, 0)

/*
 * A static, bounded semaphore: a release above the capacity fails with EOVERFLOW, and changes nothing.
 * 0 <= units <= capacity and capacity > 0, not checked.  Since 1.1.
 */
#define FAIRSEM_INITIALIZER_BOUNDED(units, capacity) FAIRSEM_INITIALIZER_(units, capacity, 1)
#define FAIRSEM_INITIALIZER_(units, limit, bounded) \
    { FAIRSEM_INT64_(units) * 2 + FAIRSEM_WATCHED_, FAIRSEM_INT64_(limit), FAIRSEM_MUTEX_, \
      { bounded }, FAIRSEM_INT64_(units) }

/*
 * Take n units, all at once.  If that is not possible now, wait in the queue.
 *
 * 0        the units are yours
 * EINVAL   n < 0 or n > FAIRSEM_MAX_UNITS
 * E2BIG    n exceeds the capacity, at the call or after a change (at a capacity of 0, the request waits)
 * ENOBUFS  attr.max_waiters requests wait already
 * EINTR    a signal handler ran (FAIRSEM_INTERRUPTIBLE only)
 * the close reason: that of a fairsem_close before the call or during it
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_acquire(fairsem_t *sem, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Take n units now or not at all.  The call passes no waiter, and never fails spuriously.
 *
 * 0        the units are yours
 * EAGAIN   too few units are free, or a request of any priority waits
 * EINVAL, E2BIG, the close reason   as fairsem_acquire
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_tryacquire(fairsem_t *sem, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Take up to max units without waiting.  Returns how many: 0 if none is free, somebody waits,
 * the semaphore is closed or max <= 0.
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int64_t fairsem_tryacquire_upto(fairsem_t *sem, int64_t max) FAIRSEM_NONNULL_(1);

/*
 * Give n units back and grant the oldest waiters what they asked for.  In a correct program this
 * cannot fail, so you may ignore the result.
 *
 * 0          the units are free or granted
 * EINVAL     n < 0 or n > FAIRSEM_MAX_UNITS
 * EOVERFLOW  more would be free than the capacity or FAIRSEM_MAX_UNITS: some of the n were never taken
 */
FAIRSEM_API int fairsem_release(fairsem_t *sem, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * WHAT HOLDS FOR EVERY FUNCTION, unless its comment says otherwise
 *
 * Results.   A function returns 0, or an errno value that its comment lists, and no other.  It
 *            leaves errno as it was, and a function that fails changes nothing.
 * Units.     Arguments are 0 .. FAIRSEM_MAX_UNITS.
 * Time.      Relative times count nanoseconds.  Deadlines are absolute.
 * Queue.     The queue is in order of priority, then of arrival; attr.aging_ns and shares change this
 *            order.  No call takes units ahead of the queue, except fairsem_consume, and except with
 *            FAIRSEM_BOUNDED_BYPASS.
 * Close.     On a closed semaphore a request fails with the close reason, instead of E2BIG, ENOBUFS,
 *            EAGAIN or ETIMEDOUT.
 * Memory.    Writes before a release are visible after the acquire that the release satisfies.
 * malloc.    A thread allocates when it waits for the first time; without memory, it polls.
 *            Only fairsem_new and fairsem_dump fail for lack of memory.
 * Cancel.    A wait, and nothing else, is a cancellation point (deferred).
 * Signals.   A signal does not end a wait, and a handler must not call these functions.
 *            FAIRSEM_INTERRUPTIBLE changes both rules.
 * fork.      The child gets the count and an empty queue.  For semaphores between processes, see
 *            fairsem/shared.h.
 * Mistakes.  Use of an all-zero or destroyed semaphore aborts the program if the check costs nothing.
 * Since.     1.0, unless a comment names a later version.
 * Threads.   Two calls may run in parallel, but no call in parallel with init.  With destroy and free, the
 *            rule depends on the other call:
 *                 acquire...   Destroy after every acquire has returned.  EBUSY reports a queue, but
 *                              not a thread about to wait, or just out of its wait.
 *                 release      A thread may destroy as soon as its acquire has returned, even if the
 *                              release that has satisfied this acquire has not returned.
 *                 others       Destroy after the call has returned.
 */

/* ======================================================================== *
 *  2  The object: initialize, destroy
 *     fairsem_init(3)
 * ======================================================================== */

/* attr.flags: as with sem_t, signal handlers end waits (EINTR) and may release.  Linux only. */
#define FAIRSEM_INTERRUPTIBLE 1u

/* attr.flags: waiters never spin or yield before they sleep, which saves processor time. */
#define FAIRSEM_NO_SPIN 2u

/* attr.flags: running threads may pass sleeping waiters until the first of these has waited bypass_ns. */
#define FAIRSEM_BOUNDED_BYPASS 4u

/* The kind of a semaphore.  Zero is the default of each member: { .capacity = 8 } is enough. */
typedef struct fairsem_attr {
    const char *name;        /* for debugging; must live as long as the semaphore */
    int64_t     capacity;    /* the most units that can be free; 0: unbounded */
    int64_t     max_waiters; /* the longest queue, or 0 for no limit */
    unsigned    flags;       /* FAIRSEM_INTERRUPTIBLE | ..., or 0 */
    unsigned    reserved_[5]; /* must be zero */
    int64_t     aging_ns;    /* from this age, requests precede better priorities; 0: never.  Since 1.1 */
    int64_t     bypass_ns;   /* > 0 with FAIRSEM_BOUNDED_BYPASS, else 0 */
} fairsem_attr_t;

/*
 * Initialize *sem with `units` free units.  attr may be NULL.
 *
 * 0        *sem is a semaphore
 * EINVAL   a number out of range or negative, units > capacity, an unknown flag, bypass_ns without
 *          FAIRSEM_BOUNDED_BYPASS or the reverse, a reserved field that is not zero
 * ENOTSUP  FAIRSEM_INTERRUPTIBLE, on a system without futexes
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_init(fairsem_t *sem, int64_t units, const fairsem_attr_t *attr)
    FAIRSEM_NONNULL_(1);

/*
 * Destroy *sem, after which its memory is yours.  Units may still be held.
 *
 * 0        *sem is no longer a semaphore
 * EBUSY    a thread or a ticket waits, or (not always noticed) a thread is inside another function
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_destroy(fairsem_t *sem) FAIRSEM_NONNULL_(1);

/* The counters of fairsem_stat_histogram. */
#define FAIRSEM_WAIT_BUCKETS 28

/* A semaphore that also counts its waits by length.  Use its `sem` as any semaphore.  Since 1.1. */
typedef struct fairsem_counted {
    fairsem_t sem;
    uint64_t  fairsem_counts_[FAIRSEM_WAIT_BUCKETS];
} fairsem_counted_t;

/*
 * Initialize counted->sem, and counters of its waits.  Since 1.1.
 *
 * 0        counted->sem is a semaphore
 * EINVAL, ENOTSUP   as fairsem_init
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_counted_init(fairsem_counted_t *counted, int64_t units,
                                     const fairsem_attr_t *attr) FAIRSEM_NONNULL_(1);

/*
 * Allocate and initialize a semaphore, for code that cannot embed one.  The semaphore counts its waits by
 * length.  Since 1.1.
 *
 * As fairsem_init, and
 * ENOMEM   there is no memory for the semaphore
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_new(fairsem_t **sem, int64_t units, const fairsem_attr_t *attr)
    FAIRSEM_NONNULL_(1);

/* Destroy a semaphore from fairsem_new; NULL does nothing.  Aborts if somebody waits.  Since 1.1. */
FAIRSEM_API void fairsem_free(fairsem_t *sem);

/* ======================================================================== *
 *  3  Deadlines, priorities, tokens, shares
 *     fairsem_acquire(3), fairsem_acquire_all(3), fairsem_token_cancel(3), fairsem_share_init(3)
 * ======================================================================== */

/*
 * Wait for at most timeout_ns nanoseconds, by CLOCK_MONOTONIC; if timeout_ns <= 0, try once.
 *
 * As fairsem_acquire, and
 * ETIMEDOUT  the units did not come in time
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_acquire_for(fairsem_t *sem, int64_t n, int64_t timeout_ns)
    FAIRSEM_NONNULL_(1);

/*
 * Wait until a deadline on `clock`, or for ever if the deadline is NULL.  If the deadline is past, try once.
 *
 * As fairsem_acquire_for, and
 * EINVAL     a clock other than CLOCK_MONOTONIC and CLOCK_REALTIME; tv_nsec not 0 .. 999999999
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_acquire_until(fairsem_t *sem, int64_t n, clockid_t clock,
                                      const struct timespec *deadline)
    FAIRSEM_TIME64_(fairsem_acquire_until) FAIRSEM_NONNULL_(1);

/* A token ends many waits, on many semaphores.  Do not move or copy it. */
typedef struct fairsem_token {
    FAIRSEM_ALIGNED_ pthread_mutex_t fairsem_mutex_;
    unsigned char fairsem_reserved_[128 - sizeof(pthread_mutex_t)];
} fairsem_token_t;

/* A static token. */
#define FAIRSEM_TOKEN_INITIALIZER { FAIRSEM_MUTEX_, { 0 } }

/* Initialize a token.  Returns 0. */
FAIRSEM_API int fairsem_token_init(fairsem_token_t *token) FAIRSEM_NONNULL_(1);

/*
 * Destroy a token.
 *
 * 0        *token is no longer a token
 * EBUSY    a wait with the token has not returned (a wait that the token canceled does not count)
 */
FAIRSEM_API int fairsem_token_destroy(fairsem_token_t *token) FAIRSEM_NONNULL_(1);

/*
 * End every wait that uses the token, now and later, with `reason` > 0; 0 stands for ECANCELED.
 *
 * 0        the waiters have left their queues
 * EINVAL   reason < 0
 * EALREADY the token is canceled already, and keeps its first reason
 */
FAIRSEM_API int fairsem_token_cancel(fairsem_token_t *token, int reason) FAIRSEM_NONNULL_(1);

/* Returns the reason of fairsem_token_cancel, or 0 if the token is not canceled. */
FAIRSEM_API int fairsem_token_reason(const fairsem_token_t *token) FAIRSEM_NONNULL_(1);

/*
 * A client's share: the client's requests wait in a line of their own, and units go round between the lines.
 * Put the share where you like, but never move or copy it while a request with this share is in a queue.
 * Since 1.1.
 */
typedef struct fairsem_share {
    FAIRSEM_ALIGNED_ uint16_t fairsem_weight_;
    unsigned char fairsem_reserved_[62];
} fairsem_share_t;

/* The largest weight of a share.  Since 1.1. */
#define FAIRSEM_MAX_WEIGHT 65535

/* A static share.  weight: 1 .. FAIRSEM_MAX_WEIGHT, not checked.  Since 1.1. */
#define FAIRSEM_SHARE_INITIALIZER(weight) { (weight), { 0 } }

/*
 * Initialize a share.  While two shares have requests in the queue, each is granted units in proportion to
 * its weight.  All requests without a share count as one share of weight 1.  Since 1.1.
 *
 * 0        *share is a share
 * EINVAL   weight is 0 or > FAIRSEM_MAX_WEIGHT
 */
FAIRSEM_API int fairsem_share_init(fairsem_share_t *share, uint32_t weight) FAIRSEM_NONNULL_(1);

/*
 * Destroy a share.  Since 1.1.
 *
 * 0        *share is no longer a share
 * EBUSY    a request with this share is in a queue
 */
FAIRSEM_API int fairsem_share_destroy(fairsem_share_t *share) FAIRSEM_NONNULL_(1);

/*
 * Count n units more than were requested, or fewer if n < 0, in the share's next grant: for work that
 * turned out to be larger.  If no request with the share waits, the charge is for the next request, and is
 * dropped if the queue has been empty since the share's last grant.  Since 1.1.
 *
 * 0        done
 * EINVAL   n < -FAIRSEM_MAX_UNITS or n > FAIRSEM_MAX_UNITS; *share is not a share
 */
FAIRSEM_API int fairsem_share_charge(fairsem_share_t *share, int64_t n) FAIRSEM_NONNULL_(1);

/* How to wait.  All zero: for ever, with priority 0.  A deadline needs its clock. */
typedef struct fairsem_wait {
    clockid_t              clock;    /* of the deadline; 0 is CLOCK_REALTIME on Linux */
    const struct timespec *deadline; /* absolute, or NULL */
    int                    priority; /* lower numbers come first, then older requests */
    fairsem_token_t       *token;    /* or NULL */
    int64_t                timeout_ns; /* from the call; 0 is no time-out, < 0 only tries */
    fairsem_share_t       *share;    /* or NULL.  Since 1.1 */
    uint32_t               share_weight; /* between processes: fairsem_shared_acquire_with.  Since 1.1 */
    uint64_t               share_key; /* as share_weight */
#if UINTPTR_MAX > UINT32_MAX
    uintptr_t              reserved_[1]; /* must be zero */
#endif
} fairsem_wait_t;

/*
 * The general acquire.  `how` may be NULL.
 *
 * As fairsem_acquire_until, and
 * EINVAL     a deadline and a timeout; a reserved field that is not zero; a share that has requests at
 *            another semaphore, or that is not initialized; a share at a semaphore with bypass_ns or
 *            aging_ns; share_weight or share_key is not 0
 * the token's reason: the token is canceled before the wait (even if units are free) or during it
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_acquire_with(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_acquire_with) FAIRSEM_NONNULL_(1);

/* One semaphore, how many of its units, and a share or NULL.  Since 1.1. */
typedef struct fairsem_request {
    fairsem_t       *sem;
    int64_t          units;
    fairsem_share_t *share;
} fairsem_request_t;

/*
 * Acquire all units in the array, or none; such calls never deadlock with each other.  While a call waits
 * for one semaphore, it may hold units of others.  Since 1.1.
 *
 * As fairsem_acquire_with, and
 * EINVAL     a sem is NULL; the units of one semaphore add up to > FAIRSEM_MAX_UNITS; one semaphore is
 *            named with two shares; `how` has a share
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_acquire_all(const fairsem_request_t requests[], size_t count,
                                    const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_acquire_all);

/*
 * Release the units of each request, even after a failure.  Returns the first error.  Since 1.1.
 *
 * As fairsem_release, and
 * EINVAL     a sem is NULL
 */
FAIRSEM_API int fairsem_release_all(const fairsem_request_t requests[], size_t count);

/* ======================================================================== *
 *  4  Capacity, debt, close
 *     fairsem_set_capacity(3), fairsem_close(3)
 * ======================================================================== */

/* Returns the capacity in units, -1 for an unbounded semaphore, 0 in a pause. */
FAIRSEM_API int64_t fairsem_capacity(const fairsem_t *sem) FAIRSEM_NONNULL_(1);

/*
 * Set the capacity of a bounded semaphore.  Larger requests fail with E2BIG.  0 is a pause, in which
 * all requests wait.  If more units are in use than the capacity, there is a debt.
 *
 * 0        the capacity is set
 * EINVAL   the semaphore is unbounded; capacity < 0 or > FAIRSEM_MAX_UNITS
 */
FAIRSEM_API int fairsem_set_capacity(fairsem_t *sem, int64_t capacity) FAIRSEM_NONNULL_(1);

/*
 * Take n units that have been used already, ahead of the queue.  If fewer are free, the rest is a
 * debt, which the next releases repay.
 *
 * 0          the units are taken
 * EINVAL     n < 0 or n > FAIRSEM_MAX_UNITS
 * EOVERFLOW  the debt would be more than FAIRSEM_MAX_UNITS
 */
FAIRSEM_API int fairsem_consume(fairsem_t *sem, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Close for good.  All waiters and all later acquires fail with `reason` > 0; 0 stands for ESHUTDOWN.  Do
 * not choose a result with another meaning, such as EINPROGRESS.  A release still works.
 *
 * 0        the semaphore is closed
 * EINVAL   reason < 0
 * EALREADY the semaphore is closed already, and keeps its first reason
 */
FAIRSEM_API int fairsem_close(fairsem_t *sem, int reason) FAIRSEM_NONNULL_(1);

/* Returns the reason of fairsem_close, or 0 if the semaphore is open. */
FAIRSEM_API int fairsem_closed(const fairsem_t *sem) FAIRSEM_NONNULL_(1);

/*
 * Close an open semaphore with ESHUTDOWN, and wait until n units are free, without taking them.  If n is the
 * number of all units, no unit is held when the call returns 0.  `how` may be NULL.
 *
 * 0        n units are free, or, in a pause, none is in use
 * EINVAL   as fairsem_acquire_with; the call has not closed the semaphore
 * E2BIG    n exceeds the capacity; the call has closed the semaphore only if the capacity changed during
 *          the wait
 * ETIMEDOUT, ENOBUFS, EINTR, the token's reason   as fairsem_acquire_with; the semaphore is closed
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_drain(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_drain) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  5  Inspect
 *     fairsem_available(3), fairsem_stat(3)
 * ======================================================================== */

/* Returns the number of free units, negative in debt.  (All results of this section may be out of date.) */
FAIRSEM_API int64_t fairsem_available(const fairsem_t *sem) FAIRSEM_NONNULL_(1);

/* Returns the number of requests in the queue.  A counted request already has its place. */
FAIRSEM_API int64_t fairsem_waiters(const fairsem_t *sem) FAIRSEM_NONNULL_(1);

/* Returns true if fairsem_tryacquire(sem, n) would fail with EAGAIN. */
FAIRSEM_API bool fairsem_would_block(const fairsem_t *sem, int64_t n) FAIRSEM_NONNULL_(1);

/* A semaphore now, and in the past.  Requests that did not have to wait are not counted. */
typedef struct {
    int64_t available;      /* free units, or a debt if < 0 */
    int64_t capacity;       /* as fairsem_capacity */
    int64_t waiters;        /* requests in the queue */
    int64_t waiting_units;  /* units that these requests ask for; at most INT64_MAX */
    int64_t oldest_wait_ns; /* the age of the oldest of these requests, nanoseconds */
    int64_t waits;          /* requests that joined the queue: waiters + grants + timeouts + cancels */
    int64_t grants;         /* requests that left the queue with their units */
    int64_t timeouts;       /* requests that timed out */
    int64_t cancels;        /* requests that left the queue in any other way */
    int64_t wait_ns_total;  /* sum of the waits that have ended, nanoseconds; at most INT64_MAX */
    int64_t wait_ns_max;    /* the longest of these waits */
    int64_t waiters_max;    /* the longest queue */
    int64_t refused;        /* requests that got ENOBUFS */
    int64_t over_releases;  /* releases that got EOVERFLOW, and returned grants that did not fit */
    int64_t aged;           /* grants before better priorities, by aging_ns.  Since 1.1 */
    int64_t shares;         /* shares with requests in the queue.  Since 1.1 */
    int64_t reserved_[4];
} fairsem_stat_t;

/* Fill in *stat with figures of one moment.  Returns 0. */
FAIRSEM_API int fairsem_stat(const fairsem_t *sem, fairsem_stat_t *stat) FAIRSEM_NONNULL_(1, 2);

/* As fairsem_stat, but wait_ns_max and waiters_max are those since this function's last call. */
FAIRSEM_API int fairsem_stat_interval(fairsem_t *sem, fairsem_stat_t *stat) FAIRSEM_NONNULL_(1, 2);

/*
 * Count the waits that have ended, by length: counts[0] waits were at most 1 microsecond long, counts[i]
 * waits more than 2^(i-1) and at most 2^i microseconds.  The last counter has all waits above 2^26
 * microseconds (67 s).  The sum of the counters is grants + timeouts + cancels.  Since 1.1.
 *
 * 0        counts is filled in
 * EINVAL   the semaphore has no such counters: neither fairsem_counted_init nor fairsem_new has made it
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_stat_histogram(const fairsem_t *sem, uint64_t counts[FAIRSEM_WAIT_BUCKETS])
    FAIRSEM_NONNULL_(1, 2);

/*
 * Write a summary and a line for each waiter, as text.
 *
 * 0        all is written
 * ENOMEM   only the summary is written
 * EIO      an error of the file
 */
FAIRSEM_API int fairsem_dump(const fairsem_t *sem, FILE *file) FAIRSEM_NONNULL_(1, 2);

/* ======================================================================== *
 *  6  Units: a guard that knows what it holds
 *     fairsem_units_acquire(3)
 * ======================================================================== */

/* A guard: its owner owns n units of sem.  { 0 } is an empty guard.  For one thread at a time. */
typedef struct fairsem_units {
    fairsem_t *sem;
    int64_t    n;
} fairsem_units_t;

/*
 * As fairsem_acquire_with (`how` may be NULL) and fairsem_tryacquire, into an empty guard.
 *
 * As these functions, and
 * EBUSY    the guard is not empty
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_units_acquire(fairsem_units_t *units, fairsem_t *sem, int64_t n,
                                      const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_units_acquire) FAIRSEM_NONNULL_(1, 2);
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_units_tryacquire(fairsem_units_t *units, fairsem_t *sem, int64_t n)
    FAIRSEM_NONNULL_(1, 2);

/*
 * Fill an empty guard with units that you hold already.
 *
 * 0        the units are in the guard
 * EINVAL   n < 0 or n > FAIRSEM_MAX_UNITS
 * EBUSY    the guard is not empty
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_units_adopt(fairsem_units_t *units, fairsem_t *sem, int64_t n)
    FAIRSEM_NONNULL_(1, 2);

/*
 * Release all units of the guard; an empty guard is not an error.
 *
 * 0          the guard is empty
 * EOVERFLOW  as fairsem_release
 */
FAIRSEM_API int fairsem_units_release(fairsem_units_t *units) FAIRSEM_NONNULL_(1);

/*
 * Release n units of the guard.
 *
 * 0          the units are released
 * EINVAL     n < 0 or n > units->n
 * EOVERFLOW  as fairsem_release
 */
FAIRSEM_API int fairsem_units_return(fairsem_units_t *units, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Move n units into an empty guard.
 *
 * 0        `into` has the units
 * EINVAL   n < 0 or n > from->n; the same guard twice
 * EBUSY    `into` is not empty
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_units_split(fairsem_units_t *from, int64_t n, fairsem_units_t *into)
    FAIRSEM_NONNULL_(1, 3);

/*
 * Add all units of `from` to those of `into`.
 *
 * 0        `from` is empty
 * EINVAL   units of two semaphores; the same guard twice; the sum exceeds FAIRSEM_MAX_UNITS
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_units_merge(fairsem_units_t *into, fairsem_units_t *from)
    FAIRSEM_NONNULL_(1, 2);

/* Empty the guard without a release.  Returns how many units are yours to release. */
FAIRSEM_API int64_t fairsem_units_forget(fairsem_units_t *units) FAIRSEM_NONNULL_(1);

/* Release at the end of the scope (GCC, Clang):  FAIRSEM_SCOPED fairsem_units_t units = { 0 }; */
#if defined(__GNUC__)
#define FAIRSEM_SCOPED __attribute__((__cleanup__(fairsem_scope_ends_)))
static __inline__ void fairsem_scope_ends_(fairsem_units_t *units)
{
    (void)fairsem_units_release(units);
}
#endif

/*
 * Acquire n units, call fn(arg), and release the units, even if fn ends by cancellation, by pthread_exit or
 * (with glibc, see fairsem_units_acquire(3)) by an exception.  If the acquire fails, fn is not called.
 * Returns the error of the acquire, or the result of the release.
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_with(fairsem_t *sem, int64_t n, void (*fn)(void *), void *arg)
    FAIRSEM_NONNULL_(1, 3);

/* ======================================================================== *
 *  7  Tickets: a request in the queue without a blocked thread
 *     fairsem_ticket_take(3)
 * ======================================================================== */

/*
 * A request without a thread, for event loops.  { 0 } is an idle ticket.  Move a ticket only while it is
 * idle, and never copy a ticket.  Before you destroy a semaphore, claim or return its tickets.  A ticket with
 * a callback must be returned, even if it was claimed, before you free the ticket's memory.
 *     IDLE --take--> GRANTED, or WAITING, and then GRANTED, CANCELED or CLOSED
 *     GRANTED --claim--> IDLE,   any state --return--> IDLE
 */
typedef struct fairsem_ticket {
    FAIRSEM_ALIGNED_ unsigned char fairsem_reserved_[128];
} fairsem_ticket_t;

enum fairsem_ticket_state {
    FAIRSEM_TICKET_IDLE, FAIRSEM_TICKET_WAITING, FAIRSEM_TICKET_GRANTED,
    FAIRSEM_TICKET_CANCELED,    /* E2BIG: the request is too large for a new capacity */
    FAIRSEM_TICKET_CLOSED
};

/*
 * The callback of a take that returned EINPROGRESS.  It runs once, unless the ticket is claimed or
 * returned first.  It runs in the thread that ends the state WAITING, perhaps before the take
 * returns.  It may call any function.  It must return, and must not wait for something that its own
 * thread does later.
 */
typedef void fairsem_notify_fn(fairsem_ticket_t *ticket, void *arg);

/*
 * Take n units, or a place in the queue.  notify may be NULL.  The code that starts the work with the units
 * is the caller after a result of 0, and the callback after EINPROGRESS.
 *
 * 0            granted; there is no callback
 * EINPROGRESS  in the queue
 * EINVAL       n < 0 or n > FAIRSEM_MAX_UNITS; a ticket that is not idle, or that another thread uses
 * ECANCELED    called in the ticket's own callback, while the ticket is being returned
 * E2BIG, ENOBUFS, the close reason   as fairsem_acquire
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_ticket_take(fairsem_ticket_t *ticket, fairsem_t *sem, int64_t n,
                                    int priority, fairsem_notify_fn *notify, void *arg)
    FAIRSEM_NONNULL_(1, 2);

/*
 * fairsem_ticket_take for a request, which may have a share.  Since 1.1.
 *
 * As fairsem_ticket_take, and
 * EINVAL   request->sem is NULL; the share is invalid, as in fairsem_acquire_with
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_ticket_take_with(fairsem_ticket_t *ticket, const fairsem_request_t *request,
                                         int priority, fairsem_notify_fn *notify, void *arg)
    FAIRSEM_NONNULL_(1, 2);

/* Returns the state of a ticket.  The state WAITING may have ended already. */
FAIRSEM_API enum fairsem_ticket_state fairsem_ticket_state(const fairsem_ticket_t *ticket)
    FAIRSEM_NONNULL_(1);

/*
 * Block until the state WAITING ends.  `how` may be NULL; its priority must be 0, and its share NULL.
 *
 * 0          the ticket is granted
 * ETIMEDOUT, EINTR, the token's reason: the wait is over, and the ticket keeps its place
 * E2BIG, the close reason: the ticket has left the queue without units
 * ECANCELED  another thread has returned the ticket
 * EINVAL     the ticket is idle; the priority is not 0; a share; as fairsem_acquire_with
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_ticket_wait(fairsem_ticket_t *ticket, const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_ticket_wait) FAIRSEM_NONNULL_(1);

/*
 * Move a granted ticket's units into an empty guard.
 *
 * 0        the units are yours, the ticket is idle, and its callback will not begin
 * EAGAIN   the ticket waits
 * EINVAL   the ticket is idle
 * EBUSY    the guard is not empty
 * E2BIG, the close reason: the ticket has left the queue without units
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_ticket_claim(fairsem_ticket_t *ticket, fairsem_units_t *into)
    FAIRSEM_NONNULL_(1, 2);

/*
 * Return the ticket in any state; units that it was granted go to the next waiter.  Returns 0: the
 * ticket is idle, and its callback has ended.  So the call waits for a running callback, except for a
 * callback that cannot end meanwhile, such as the callback that makes the call.
 */
FAIRSEM_API int fairsem_ticket_return(fairsem_ticket_t *ticket) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  8  Version, limits
 *     fairsem_version(3)
 * ======================================================================== */

#define FAIRSEM_VERSION_MAJOR  1
#define FAIRSEM_VERSION_MINOR  1
#define FAIRSEM_VERSION_PATCH  0
#define FAIRSEM_VERSION_STRING "1.1.0"

/* 10203 is 1.2.3. */
#define FAIRSEM_VERSION_NUMBER \
    (FAIRSEM_VERSION_MAJOR * 10000 + FAIRSEM_VERSION_MINOR * 100 + FAIRSEM_VERSION_PATCH)

/* The largest number of units, free or asked for: 2^60. */
#define FAIRSEM_MAX_UNITS (INT64_C(1) << 60)

/* Returns FAIRSEM_VERSION_NUMBER of the library, not of this header. */
FAIRSEM_API int fairsem_version(void);

/* Describes a result, in this library's terms, as a static string; never NULL. */
FAIRSEM_API const char *fairsem_strerror(int error);

#ifdef __cplusplus
}
#endif
#endif /* FAIRSEM_H */
