/* SPDX-License-Identifier: MIT */
/*
 * waiter.h - one place in a semaphore's wait queue: a thread's, or a ticket's.
 *
 * THE WAITER
 *
 *                  enqueue      fall_asleep      prewake, fs_bypass_wake_front
 *      NOT_QUEUED ------> QUEUED ----------> PARKED ----------> WOKEN
 *       |                  | ^                 | |               | |
 *       |                  | +--- note_awake --+-|---------------+ |
 *       |                  +----------+----------+-----------------+
 *       |                             |
 *       +-- end_at_once ----------->  +-- fs_dequeue(FS_BY_GRANT) ----> GRANTED     has its units
 *       +-- abort, by a token ----->  +-- fs_dequeue(FS_BY_...) ------> ENDED       the reason says why not
 *
 *   (A thread may note that it is awake while another one, which saw it PARKED, makes it WOKEN: then it
 *   goes from QUEUED to WOKEN, and notes it once more.)
 *
 *   NOT_QUEUED: the thread is on its way to the mutex.  After its critical section the waiter is in
 *           the queue, GRANTED or ENDED, never NOT_QUEUED.  So if a thread that holds the mutex
 *           finds a waiter NOT_QUEUED, that waiter has not been in its section yet.  A token can
 *           then make it ENDED, and it is not enqueued.
 *   QUEUED: in the queue.  Its thread is awake and will load the state before it sleeps.  A
 *           ticket, which has no thread, is QUEUED as long as it is in the queue.
 *   PARKED: in the queue.  Its thread may be asleep: a thread that changes the state must wake it.
 *   WOKEN:  in the queue.  Its thread is to be woken, and may not be awake yet: a thread that
 *           changes the state must wake it again, unless the first waker has made its call.
 *
 *   A thread's waiter lives on its stack.  While it is in the queue, any thread that holds the
 *   mutex may use it.  Once it has left the queue, only its own thread may use it, and it can
 *   vanish at any moment (I8).  A late wake may come after that: the thread's parker still exists,
 *   and a wake on the word does no harm; see parking.h.
 *
 * A TICKET is a waiter without a thread, and a thread that waits for a ticket is a waiter in no queue:
 * ticket.h and ticket_wait.c draw what is different.
 */
#ifndef FS_WAITER_H
#define FS_WAITER_H

#include "awake/awake.h"
#include "tools/invariant.h"
#include "waitq.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

/* FS_NOT_QUEUED must be zero, because a ticket of zeros is in no queue. */
enum fs_waiter_state {
    FS_NOT_QUEUED, FS_QUEUED, FS_PARKED, FS_WOKEN, FS_GRANTED, FS_ENDED,
    FS_CLOSED,                      /* of a ticket only */
    FS_BUSY = 8                     /* of a ticket only: a bit in addition to another state */
};

/* Why a waiter leaves the queue. */
enum fs_end {
    FS_BY_GRANT,
    FS_BY_DEADLINE,
    FS_BY_TOKEN,
    FS_BY_SIGNAL,
    FS_BY_CANCEL,                   /* its thread is canceled, or never comes back to the wait */
    FS_BY_RETURN,                   /* of its ticket */
    FS_BY_CAPACITY,
    FS_BY_CLOSE                     /* or a drain has ended */
};

struct fs_share;

struct fs_waiter {
    struct fs_waitq_node in_queue;  /* under mutex; first, so that a node is its waiter */
    int64_t              units;     /* r/o once in the queue */
    _Atomic int          reason;    /* written before ENDED; atomic, as a ticket may be taken again
                                     * while it is read */
    _Atomic int          state;     /* I4; without mutex only its thread changes it, in the queue */
    struct fs_share     *share;     /* r/o once in the queue; NULL: the common one; share.h */
    int64_t              enqueued_ns; /* under mutex */
};

/* Is the waiter a ticket?  It must be in the queue. */
static inline bool fs_is_ticket(const struct fs_waiter *w)
{
    return w->in_queue.core == FS_NO_CORE;
}

static inline struct fs_waiter *fs_waiter_of(struct fs_waitq_node *node)
{
    static_assert(offsetof(struct fs_waiter, in_queue) == 0, "a node is its waiter");
    return (struct fs_waiter *)(void *)node;
}

/* In the test build: is the transition drawn above, or in ticket.h? */
#if FS_CHECKED
void fs_check_transition(int from, int to);
#else
#define fs_check_transition(from, to) ((void)0)
#endif

static inline void fs_set_state(struct fs_waiter *w, int to, memory_order order)
{
    if (FS_CHECKED)
        fs_check_transition(atomic_load_explicit(&w->state, memory_order_relaxed), to);
    atomic_store_explicit(&w->state, to, order);
}

/* By compare-and-swap, from *from; if the state is another one, *from is set to it. */
static inline bool fs_try_state(struct fs_waiter *w, int *from, int to, memory_order if_done,
                                memory_order if_not)
{
    fs_check_transition(*from, to);
    return atomic_compare_exchange_strong_explicit(&w->state, from, to, if_done, if_not);
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

/* Relaxed: the state publishes the strategy, or it is a hint to a thread that is awake. */
static inline enum fs_strategy fs_strategy_of(const struct fs_waiter *w)
{
    return atomic_load_explicit(&w->in_queue.strategy, memory_order_relaxed);
}

static inline void fs_set_strategy(struct fs_waiter *w, enum fs_strategy strategy)
{
    atomic_store_explicit(&w->in_queue.strategy, strategy, memory_order_relaxed);
}

static inline void fs_set_reason(struct fs_waiter *w, int reason)
{
    atomic_store_explicit(&w->reason, reason, memory_order_relaxed);
}

/* The result of a wait in its last state. */
static inline int fs_result(const struct fs_waiter *w, int state)
{
    return state == FS_GRANTED ? 0 : atomic_load_explicit(&w->reason, memory_order_relaxed);
}

#endif
