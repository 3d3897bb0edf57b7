/* SPDX-License-Identifier: MIT */
/*
 * semaphore_internal.h - what a semaphore is made of, and what is always true of it.
 *
 * INVARIANTS (cited by number in the code)
 *
 *  I1  Conservation: available + held = units created.  available is signed.
 *  I2  No idle unit: when the mutex is free, the head of the line asks for more than is
 *      available.
 *  I3  While SLOW is set only the holder of the mutex changes the word.  SLOW is set
 *      whenever the line is not empty, and from lock_line() to serve_and_unlock().
 *  I4  A waiter is in the line if and only if its state is QUEUED or PARKED.  It leaves
 *      these exactly once, under the mutex.
 *  I5  Units are debited at grant time, by the granter, all of a request at once.
 *  I6  Nobody passes: no way to take units succeeds while the line is not empty.
 *  I7  Whatever removes the head of the line, or adds units, runs the grant loop before
 *      it drops the mutex.
 *  I8  After a grant is visible the granter does not touch the waiter, and the waiter
 *      does not touch the semaphore.  After its unlock the granter does not touch the
 *      semaphore.  (Why destroy-and-free right after an acquire is safe: see
 *      fairsem_destroy.)
 *  I9  No user code and no malloc under the mutex.  All grants of one call happen in one
 *      critical section; the granter never takes the mutex a second time.
 *  I10 Every check precedes every change: an error leaves no trace, but a statistic.
 *
 * LOCKS.  semaphore's mutex, then a parker's own (a leaf, hidden in park.h).  Nobody
 * holds the mutexes of two semaphores.
 *
 * THE WAITER
 *
 *   acquire_contended          wait_in_line
 *   (stack) ---------> QUEUED ------------> PARKED
 *                        |                    |
 *                        +---------+----------+
 *                                  |
 *                                  +-- serve_and_unlock ------> GRANTED   the units are mine
 *                                  +-- give_up, time is out --> EXPIRED   I took myself out
 *                                  +-- give_up, canceled -----> CANCELED  pthread_cancel
 *
 *   QUEUED: in the line, its thread awake and sure to look at the state before it sleeps.
 *   PARKED: in the line, its thread perhaps asleep: whoever changes the state must unpark.
 *
 *   The waiter lives on its thread's stack.  While it is QUEUED or PARKED anybody who
 *   holds the mutex may use it; from then on it is its thread's alone and can vanish at
 *   any moment (I8).  The parker outlives it, see park.h.
 */
#ifndef FS_SEMAPHORE_INTERNAL_H
#define FS_SEMAPHORE_INTERNAL_H

#include "fairsem.h"
#include "park.h"
#include "waitq.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

enum fs_waiter_state { FS_QUEUED, FS_PARKED, FS_GRANTED, FS_EXPIRED, FS_CANCELED };

struct fs_waiter {
    struct fs_waitq_node in_line;      /* under mutex; first, so that a node is its waiter */
    int64_t              units;        /* r/o once in line */
    struct fs_parker    *parker;       /* r/o once in line; NULL: nothing to wake, it polls */
    struct fs_waiter    *next_granted; /* the granter's, from leaving the line to GRANTED */
    _Atomic int          state;        /* I4; QUEUED -> PARKED by its thread without mutex */
};

/*
 * A fairsem_t, seen from inside.  The compiler must not conclude from the two names that
 * a static initialiser written through one cannot be read through the other.
 */
#if defined(__GNUC__)
#define FS_MAY_ALIAS __attribute__((may_alias))
#else
#define FS_MAY_ALIAS
#endif

struct FS_MAY_ALIAS fs_sem {
    _Atomic int64_t  word;          /* available * 2 + SLOW; I3 says who may change it */
    _Atomic int64_t  limit;         /* r/o: most units there can be available */
    pthread_mutex_t  mutex;
    struct fs_waitq  line;          /* under mutex */
    _Atomic int64_t  waiters;       /* written under mutex; length of the line */
    int64_t          max_waiters;   /* r/o; 0: no limit */
    const char      *name;          /* r/o; may be NULL */
    unsigned         bounded;       /* r/o; limit is a capacity */
    _Atomic unsigned generation;    /* written under fs_fork_lock; see fork.h */
    int64_t          refused;       /* under mutex; ENOBUFS so far */
    int64_t          over_releases; /* under mutex; EOVERFLOW so far */
};

static_assert(sizeof(struct fs_sem) <= sizeof(fairsem_t), "fairsem_t is too small");
static_assert(_Alignof(struct fs_sem) <= _Alignof(fairsem_t), "fairsem_t is not aligned enough");
static_assert(sizeof(fairsem_t) <= 256, "fairsem_t is larger than promised");
static_assert(offsetof(struct fs_sem, word) == offsetof(fairsem_t, fairsem_word_)
                  && offsetof(struct fs_sem, limit) == offsetof(fairsem_t, fairsem_limit_)
                  && offsetof(struct fs_sem, mutex) == offsetof(fairsem_t, fairsem_mutex_),
              "FAIRSEM_INITIALIZER does not fit");
static_assert(offsetof(struct fs_sem, limit) + sizeof(int64_t) <= 16,
              "the uncontended path must stay in 16 aligned bytes: one cache line");
static_assert(sizeof(_Atomic int64_t) == sizeof(int64_t) && ATOMIC_LLONG_LOCK_FREE == 2,
              "the word must be a lock-free 64-bit atomic");

#define FS_SLOW INT64_C(1)

static inline int64_t fs_word_available(int64_t word)
{
    static_assert((-3 >> 1) == -2, "shifts of negative numbers must be arithmetic");
    return word >> 1;
}

static inline struct fs_waiter *fs_waiter_of(struct fs_waitq_node *node)
{
    static_assert(offsetof(struct fs_waiter, in_line) == 0, "a node is its waiter");
    return (struct fs_waiter *)node;
}

#endif
