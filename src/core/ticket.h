/* SPDX-License-Identifier: MIT */
/*
 * ticket.h - the struct of a ticket, and its states.
 *
 * THE TICKET is a waiter without a thread (waiter.h).  Its state has one more bit, BUSY:
 *
 *      NOT_QUEUED -- take --> BUSY - enqueue -> QUEUED -- fs_dequeue --> GRANTED   has its units
 *       ^                      |                 |                +-> ENDED     by a smaller capacity
 *       |                      +-> GRANTED,      |                +-> CLOSED    by a close
 *       |                      |   at once       |
 *       +------ if refused ----+                 |
 *       +-------------------------- returned ----+
 *       +-- GRANTED|BUSY <-- claim, return ----- GRANTED
 *       +-- ENDED|BUSY, CLOSED|BUSY <-- return -- ENDED, CLOSED
 *
 * BUSY is set by one compare-and-swap: of two threads that take, claim or return a ticket, one succeeds,
 * and owns the ticket until it clears the bit.  Meanwhile the ticket looks idle to other threads, but they
 * cannot take it.  QUEUED is entered and left under the semaphore's mutex.  (In a forked child, a ticket
 * that was QUEUED or BUSY is NOT_QUEUED.)
 *
 * fairsem_ticket_state() shows NOT_QUEUED and any state with BUSY as idle, QUEUED as waiting, and ENDED as
 * canceled.
 */
#ifndef FS_TICKET_H
#define FS_TICKET_H

#include "tools/compiler.h"
#include "wait.h"

#include <errno.h>

struct FS_MAY_ALIAS fs_ticket {
    struct fs_callback callback;    /* first: the ticket's waiter, and its callback */
    struct fs_sem *_Atomic sem;     /* written while the ticket is being taken (BUSY) */
    struct fs_list    *watchers;    /* under the semaphore's mutex; the ring of threads that wait for
                                     * the ticket; NULL when the ticket is not QUEUED */
    _Atomic unsigned   generation;  /* written under the lock of fork.c; see fork.h */
};

/* A thread in fairsem_ticket_wait; the struct is on its stack. */
struct fs_watcher {
    struct fs_wait    wait;         /* first; its waiter is in no queue */
    struct fs_list    in_ring;      /* under the semaphore's mutex; the ring of the ticket's watchers */
    struct fs_ticket *ticket;
};

static inline struct fs_watcher *fs_watcher_of(struct fs_list *node)
{
    return (struct fs_watcher *)(void *)((char *)node - offsetof(struct fs_watcher, in_ring));
}

struct fs_ticket *fs_ticket_inside(fairsem_ticket_t *ticket);

/* Acquire order: a thread that sees the semaphore of a new take must also see BUSY: fs_ticket_waits_in(). */
static inline struct fs_sem *fs_ticket_sem(const struct fs_ticket *t)
{
    return atomic_load_explicit(&t->sem, memory_order_acquire);
}

static inline int fs_ticket_state(const struct fs_ticket *t)
{
    int state = atomic_load_explicit(&t->callback.waiter.state, memory_order_acquire);

    if (fs_instrumented)
        fs_happens_after(t);
    return state;
}

/* Does a ticket in this state have nothing to claim or to return?  It is idle, or another call owns it. */
static inline bool fs_ticket_has_nothing(int state)
{
    return state == FS_NOT_QUEUED || (state & FS_BUSY) != 0;
}

/*
 * Is the ticket in the queue of s, whose mutex is held?
 *
 * The state is loaded twice.  After the first load finds QUEUED in another queue, another thread may return
 * the ticket, and take it for s.  That take sets BUSY, then stores s, and clears BUSY only with the mutex of s.
 * So if the load of the semaphore finds s, the second load of the state finds BUSY.
 */
static inline bool fs_ticket_waits_in(const struct fs_sem *s, const struct fs_ticket *t)
{
    fs_assert_held(s);
    return fs_ticket_state(t) == FS_QUEUED && fs_ticket_sem(t) == s
           && fs_ticket_state(t) == FS_QUEUED;
}

/* Returns the result of a claim or a wait that finds the ticket in this state (not QUEUED). */
static inline int fs_ticket_outcome(const struct fs_ticket *t, int state)
{
    return fs_ticket_has_nothing(state) ? EINVAL : fs_result(&t->callback.waiter, state);
}

#endif
