/* SPDX-License-Identifier: MIT */
/*
 * waiter.h - a request in a semaphore's wait queue, of a thread or of a ticket.
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
 *   (A waker may find PARKED, and store WOKEN just after the thread has made the waiter QUEUED.  Then
 *   the thread finds WOKEN, and calls note_awake() again.)
 *
 *   NOT_QUEUED: the thread is on its way to the mutex.  Its section ends with the waiter in the queue,
 *           GRANTED or ENDED.  So if a holder of the mutex finds NOT_QUEUED, the thread has not been
 *           in its section yet.  A token can then make the waiter ENDED, so it is never enqueued.
 *   QUEUED: in the queue.  The thread is awake, and will load the state before it sleeps.  (A ticket
 *           has no thread, and is QUEUED as long as it is in the queue.)
 *   PARKED: in the queue.  The thread may be asleep: a waker that changes the state must wake the
 *           thread.
 *   WOKEN:  in the queue.  A waker will wake the thread, or has just done so.  If the waker may not
 *           have made its system call yet, a second waker that changes the state wakes the thread, too.
 *
 *   A thread's waiter lives on the thread's stack.  While the waiter is in the queue, any holder of the
 *   mutex may use it.  Once it has left the queue, only its own thread may use it, and its memory can
 *   vanish at any moment (I8).  A late wake then does no harm: see parking.h.
 *
 * A TICKET is a waiter without a thread: see ticket.h.  A thread in fairsem_ticket_wait() has a waiter that
 * is in no queue: see ticket_wait.c.
 */
#ifndef FS_WAITER_H
#define FS_WAITER_H

#include "awake/awake.h"
#include "tools/invariant.h"
#include "waitq.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

/* FS_NOT_QUEUED must be zero: a ticket in zeroed memory is in no queue. */
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
    FS_BY_CANCEL,                   /* the thread is canceled, or leaves the wait by a jump or an exception */
    FS_BY_RETURN,                   /* the ticket is returned */
    FS_BY_CAPACITY,
    FS_BY_CLOSE                     /* the semaphore is closed; or a drain fits */
};

struct fs_share;

struct fs_waiter {
    struct fs_waitq_node in_queue;  /* under mutex; first: fs_waiter_of() */
    int64_t              units;     /* r/o once in the queue */
    _Atomic int          reason;    /* written before the state becomes ENDED; atomic: it may be
                                     * read while another thread takes the ticket again */
    _Atomic int          state;     /* I4; in the queue, changed under mutex or by the waiter's thread */
    struct fs_share     *share;     /* r/o once in the queue; NULL: the common flow, share.h */
    int64_t              enqueued_ns; /* under mutex */
};

/* Is the waiter a ticket?  (Wrong for a ticket that was never enqueued.) */
static inline bool fs_is_ticket(const struct fs_waiter *w)
{
    return w->in_queue.core == FS_NO_CORE;
}

static inline struct fs_waiter *fs_waiter_of(struct fs_waitq_node *node)
{
    static_assert(offsetof(struct fs_waiter, in_queue) == 0, "a node is its waiter");
    return (struct fs_waiter *)(void *)node;
}

/* In the test build: end the process unless this transition is drawn above or in ticket.h. */
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

/* Change the state by compare-and-swap.  If the state is not *from, store it in *from and return false. */
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

/*
 * Relaxed: while the caller holds the mutex, no other thread can take the waiter out of the queue.  Callers
 * without the mutex read nothing that the state publishes.
 */
static inline int fs_waiter_state(const struct fs_waiter *w)
{
    return atomic_load_explicit(&w->state, memory_order_relaxed);
}

static inline bool fs_in_queue(const struct fs_waiter *w)
{
    return fs_state_in_queue(fs_waiter_state(w));
}

/*
 * Relaxed: if the thread sleeps, the store of WOKEN publishes the strategy; if it is awake, the strategy is
 * a hint.
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
