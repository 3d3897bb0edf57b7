/* SPDX-License-Identifier: MIT */
/*
 * ticket.h - the struct of a ticket, and its states.
 *
 * THE TICKET, as its users see it, with the names of what is internal in brackets:
 *
 *      IDLE -- take --> [TAKING] -- take_or_join --> WAITING -- complete_ticket --> GRANTED
 *                          |                           |                         +-> CANCELED
 *                          |                           |                         |   [REFUSED]
 *                          +-> GRANTED, at once        |                         +-> CLOSED
 *                          +-> IDLE, if refused        +-- returned --> IDLE
 *
 *      GRANTED -- claim --> [CLAIMING] --> IDLE
 *      IDLE, GRANTED, REFUSED, CLOSED -- return --> [CLAIMING] --> IDLE
 *
 * TAKING and CLAIMING are entered by one compare-and-swap: of two threads that take, claim or
 * return a ticket, one succeeds, and owns the ticket until it leaves that state.  During that time
 * the ticket looks idle to all others, but they cannot take it.  WAITING is entered and left under
 * the semaphore's mutex.  (In a forked child, a ticket that was WAITING, TAKING or CLAIMING is
 * IDLE.)
 */
#ifndef FS_TICKET_H
#define FS_TICKET_H

#include "compiler.h"
#include "wait.h"

/* A ticket that is zero is idle. */
enum fs_ticket_state {
    FS_TICKET_IDLE, FS_TICKET_TAKING, FS_TICKET_WAITING,
    FS_TICKET_GRANTED, FS_TICKET_REFUSED, FS_TICKET_CLOSED, FS_TICKET_CLAIMING
};

struct FS_MAY_ALIAS fs_ticket {
    struct fs_callback callback;    /* first: the ticket's waiter, and its callback */
    struct fs_sem *_Atomic sem;     /* r/o unless TAKING */
    struct fs_list    *watchers;    /* under the semaphore's mutex: the ring of threads that wait
                                     * for it; NULL when it is not WAITING */
    _Atomic unsigned   generation;  /* written under the lock of fork.c; see fork.h */
    _Atomic int        state;
};

/* A thread in fairsem_ticket_wait, on its stack. */
struct fs_watcher {
    struct fs_wait    wait;         /* first; its waiter is in no queue */
    struct fs_list    in_ring;      /* under the semaphore's mutex; of the ticket's watchers */
    struct fs_ticket *ticket;
};

static inline struct fs_watcher *fs_watcher_of(struct fs_list *node)
{
    return (struct fs_watcher *)(void *)((char *)node - offsetof(struct fs_watcher, in_ring));
}

struct fs_ticket *fs_ticket_inside(fairsem_ticket_t *ticket);

/* Acquire order: a thread that sees the new semaphore must see TAKING; fs_ticket_waits_in(). */
static inline struct fs_sem *fs_ticket_sem(const struct fs_ticket *t)
{
    return atomic_load_explicit(&t->sem, memory_order_acquire);
}

static inline int fs_ticket_state(const struct fs_ticket *t)
{
    int state = atomic_load_explicit(&t->state, memory_order_acquire);

    fs_annotate_after(t);
    return state;
}

/*
 * Is the ticket in the queue of s, whose mutex is held?  If it is in another queue, its state and
 * its semaphore may change between two loads, even to s.  But then it is TAKING until the thread
 * that takes it has the mutex of s, and the second load of the state shows that.
 */
static inline bool fs_ticket_waits_in(const struct fs_sem *s, const struct fs_ticket *t)
{
    fs_assert_held(s);
    return fs_ticket_state(t) == FS_TICKET_WAITING && fs_ticket_sem(t) == s
           && fs_ticket_state(t) == FS_TICKET_WAITING;
}

/* The result of a claim of, or a wait for, a ticket in this state, which is not WAITING. */
int fs_ticket_outcome(const struct fs_ticket *t, int state);

#endif
