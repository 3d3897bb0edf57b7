/* SPDX-License-Identifier: MIT */
/*
 * waiter.h - one place in a semaphore's wait queue: a thread's, or a ticket's.
 *
 * THE WAITER
 *
 *                   join            fall_asleep      wake_ahead, fs_wake_to_claim
 *      NOT_JOINED ---------> QUEUED ----------> PARKED ----------> WOKEN
 *       |                     | ^                 |                 | |
 *       |                     | +-------------- state_when_awake ---+ |
 *       |                     |                   |                   |
 *       |                     +-----------+-------+-------------------+
 *       |                                 |
 *       |   end_at_once:                  +-- grant ----------------> GRANTED     has its units
 *       +-- refused --> REFUSED           +-- abort, out of time ---> EXPIRED     ETIMEDOUT
 *       +-- need not wait                 +-- abort, by a token ----> CANCELED    its reason
 *       |    --> GRANTED, CLOSED          +-- abort, by a signal ---> INTERRUPTED EINTR
 *       +-- abort, by a token             +-- abort, thread canceled,
 *                --> CANCELED             |   or ticket returned ---> ABANDONED   ECANCELED
 *                                         +-- set_capacity ---------> REFUSED     E2BIG
 *                                         +-- close ----------------> CLOSED      its reason
 *                                         +-- drained --------------> CLOSED      0
 *
 *   NOT_JOINED: the thread is on its way to the mutex.  After its critical section the waiter is in
 *           the queue or in a final state, never NOT_JOINED.  So if a thread that holds the mutex
 *           finds a waiter NOT_JOINED, that waiter has not been in its section yet.  A token can
 *           then make it CANCELED, and it does not join.
 *   QUEUED: in the queue.  Its thread is awake and will load the state before it sleeps.  A
 *           ticket, which has no thread, is QUEUED as long as it is in the queue.
 *   PARKED: in the queue.  Its thread may be asleep: a thread that changes the state must wake it.
 *   WOKEN:  in the queue.  Its thread is to be woken, and may not be awake yet: a thread that
 *           changes the state must wake it again, unless the first waker has made its call.
 *
 *   A thread's waiter lives on its stack.  While it is in the queue, any thread that holds the
 *   mutex may use it.  Once it has left the queue, only its own thread may use it, and it can
 *   vanish at any moment (I8).  A late wake may come after that: the thread's parker still exists,
 *   and a wake on the word does no harm; see parking.h.  A ticket's waiter is a part of the ticket;
 *   each take makes it NOT_JOINED again.
 */
#ifndef FS_WAITER_H
#define FS_WAITER_H

#include "awake.h"
#include "state.h"
#include "waitq.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

/* FS_NOT_JOINED must be zero, because a ticket of zeros has not joined. */
enum fs_waiter_state {
    FS_NOT_JOINED,
    FS_QUEUED, FS_PARKED, FS_WOKEN,
    FS_GRANTED, FS_EXPIRED, FS_CANCELED, FS_INTERRUPTED, FS_ABANDONED, FS_REFUSED, FS_CLOSED
};

#define FS_TO_A_QUEUED_END                                                                  \
    (FS_TO(FS_GRANTED) | FS_TO(FS_EXPIRED) | FS_TO(FS_CANCELED) | FS_TO(FS_INTERRUPTED)     \
     | FS_TO(FS_ABANDONED) | FS_TO(FS_REFUSED) | FS_TO(FS_CLOSED))

static const struct fs_machine fs_waiter_machine = {
    .name = "waiter",
    .arrows = {
        [FS_NOT_JOINED] = FS_TO(FS_QUEUED) | FS_TO(FS_REFUSED) | FS_TO(FS_GRANTED)
                          | FS_TO(FS_CLOSED) | FS_TO(FS_CANCELED),
        [FS_QUEUED] = FS_TO(FS_PARKED) | FS_TO_A_QUEUED_END,
        [FS_PARKED] = FS_TO(FS_WOKEN) | FS_TO_A_QUEUED_END,
        [FS_WOKEN] = FS_TO(FS_QUEUED) | FS_TO_A_QUEUED_END,
    },
};

struct fs_section;
struct fs_waiter;

/*
 * Make a state visible, either a final one or WOKEN, as the last access to the waiter, and note in
 * in->after which wakes and callbacks must follow.  Mutex held.
 */
typedef void fs_complete_fn(struct fs_waiter *w, enum fs_waiter_state state,
                            struct fs_section *in);

struct fs_waiter {
    struct fs_waitq_node in_queue;  /* under mutex; first, so that a node is its waiter */
    int64_t              units;     /* r/o once in the queue */
    _Atomic int          reason;    /* written before a final state; atomic, as a ticket may be
                                     * taken again while it is read */
    _Atomic int          state;     /* I4; without mutex only its thread changes it, in the queue */
    fs_complete_fn      *complete;  /* r/o once in the queue */
    int64_t              joined_ns; /* under mutex */
};

static inline struct fs_waiter *fs_waiter_of(struct fs_waitq_node *node)
{
    static_assert(offsetof(struct fs_waiter, in_queue) == 0, "a node is its waiter");
    return (struct fs_waiter *)(void *)node;
}

/* I4: the states of a waiter that is in the queue. */
static inline bool fs_state_in_queue(int state)
{
    return state == FS_QUEUED || state == FS_PARKED || state == FS_WOKEN;
}

/* Mutex held, so no other thread takes it out of the queue. */
static inline int fs_waiter_state(const struct fs_waiter *w)
{
    return atomic_load_explicit(&w->state, memory_order_relaxed);
}

static inline bool fs_in_queue(const struct fs_waiter *w)
{
    return fs_state_in_queue(fs_waiter_state(w));
}

/* Relaxed: the state publishes the plan, or it is a hint to a thread that is awake. */
static inline enum fs_plan fs_plan_of(const struct fs_waiter *w)
{
    return atomic_load_explicit(&w->in_queue.plan, memory_order_relaxed);
}

static inline void fs_set_plan(struct fs_waiter *w, enum fs_plan plan)
{
    atomic_store_explicit(&w->in_queue.plan, plan, memory_order_relaxed);
}

static inline void fs_set_reason(struct fs_waiter *w, int reason)
{
    atomic_store_explicit(&w->reason, reason, memory_order_relaxed);
}

/* The result of a wait that has ended in this state. */
static inline int fs_result(const struct fs_waiter *w, int state)
{
    return state == FS_GRANTED ? 0 : atomic_load_explicit(&w->reason, memory_order_relaxed);
}

#endif
