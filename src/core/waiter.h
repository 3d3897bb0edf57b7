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
 *   (A thread may note that it is awake, which makes it QUEUED, just before another thread that saw
 *   PARKED stores WOKEN.  Then it notes once more that it is awake.)
 *
 *   NOT_QUEUED: the thread is on its way to the mutex.  After its critical section the waiter is in
 *           the queue, GRANTED or ENDED, never NOT_QUEUED.  So if a thread that holds the mutex
 *           finds a waiter NOT_QUEUED, the waiter's thread has not been in its section yet.  A
 *           token can then make the waiter ENDED, so that it is never enqueued.
 *   QUEUED: in the queue.  Its thread is awake and will load the state before it sleeps.  A
 *           ticket, which has no thread, is QUEUED as long as it is in the queue.
 *   PARKED: in the queue.  Its thread may be asleep: a thread that changes the state must wake it.
 *   WOKEN:  in the queue.  Its thread is to be woken, and may not be awake yet: a thread that
 *           changes the state must wake it again, unless the first waker has made its system call.
 *
 *   A thread's waiter lives on its stack.  While it is in the queue, any thread that holds the
 *   mutex may use it.  Once it has left the queue, only its own thread may use it, and it can
 *   vanish at any moment (I8).  A late wake may still come then, and does no harm: the thread's parker
 *   still exists, and a futex can be woken where no thread sleeps; see parking.h.
 *
 * A TICKET is a waiter without a thread: ticket.h draws its states.  A thread that waits for a ticket is
 * a waiter in no queue: ticket_wait.c draws its states.
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
    FS_BY_RETURN,                   /* its ticket is returned */
    FS_BY_CAPACITY,
    FS_BY_CLOSE                     /* or a drain is done: its units are free */
};

struct fs_share;

struct fs_waiter {
    struct fs_waitq_node in_queue;  /* under mutex; first, so that a node is its waiter */
    int64_t              units;     /* r/o once in the queue */
    _Atomic int          reason;    /* written before ENDED; atomic: a thread may read it while another
                                     * one takes the ticket again */
    _Atomic int          state;     /* I4; in the queue, only its own thread changes it without mutex */
    struct fs_share     *share;     /* r/o once in the queue; NULL: the common flow, share.h */
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

/* In the test build: stop unless this transition is drawn above or in ticket.h. */
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

/*
 * Change the state from *from by compare-and-swap.  Returns false if the state is another one, which is
 * then in *from.
 */
static inline bool fs_try_state(struct fs_waiter *w, int *from, int to, memory_order if_done,
                                memory_order if_not)
{
    fs_check_transition(*from, to);
    return atomic_compare_exchange_strong_explicit(&w->state, from, to, if_done, if_not);
}

/* Is this the state of a waiter in the queue (I4)? */
static inline bool fs_state_in_queue(int state)
{
    return state == FS_QUEUED || state == FS_PARKED || state == FS_WOKEN;
}

/* A relaxed load: while the mutex is held, no other thread takes the waiter out of the queue. */
static inline int fs_waiter_state(const struct fs_waiter *w)
{
    return atomic_load_explicit(&w->state, memory_order_relaxed);
}

static inline bool fs_in_queue(const struct fs_waiter *w)
{
    return fs_state_in_queue(fs_waiter_state(w));
}

/*
 * Relaxed: a store of the state publishes the strategy, or the strategy is a hint to a thread that is
 * awake.
 */
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

/* Returns the result of a wait that has ended in this state. */
static inline int fs_result(const struct fs_waiter *w, int state)
{
    return state == FS_GRANTED ? 0 : atomic_load_explicit(&w->reason, memory_order_relaxed);
}

#endif
