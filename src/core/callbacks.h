/* SPDX-License-Identifier: MIT */
/* callbacks.h - callbacks that become pending in a critical section, and run when no lock is held. */
#ifndef FS_CALLBACKS_H
#define FS_CALLBACKS_H

#include "fairsem.h"
#include "list.h"
#include "waiter.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A waiter that can have a callback: the first part of a ticket.  While the callback is pending, the waiter is
 * not in the wait queue, and in_pending uses the memory of the waiter's links.
 */
struct fs_callback {
    union {
        struct fs_waiter waiter;
        /* Used while waiter.in_queue.pending is true.  The callbacks' mutex protects in_pending and `pending`. */
        struct fs_list   in_pending;
    };
    fairsem_notify_fn *notify;      /* r/o while in the queue, or pending; may be NULL */
    void              *arg;         /* r/o while in the queue, or pending */
    _Atomic uint64_t   number;      /* of all callbacks of this ticket; r/o once set; 0: not set yet */
};

/* The callbacks that became pending in one critical section, the oldest first. */
struct fs_callbacks {
    bool           any;     /* owner only; if false, `pending` is uninitialized */
    struct fs_list pending; /* under the callbacks' mutex */
};

/* Returns a unique number for a ticket that will have callbacks. */
uint64_t fs_callbacks_number(void);

/* Make the callback pending.  The semaphore's mutex is held, and the waiter has left the queue. */
void fs_callbacks_add(struct fs_callbacks *callbacks, struct fs_callback *callback);

/*
 * Call the pending callbacks.  If this thread is in a callback, only append them to the thread's queue (C2 in
 * callbacks.c).  No lock held.
 */
void fs_callbacks_run(struct fs_callbacks *callbacks);

/*
 * Cancel the callback if it is pending and its ticket is in `state`, which must not be the state of a waiter in
 * the wait queue.  No lock held.
 */
void fs_callbacks_cancel(struct fs_callback *callback, int state);

/*
 * Wait until no other thread is in a callback with this number, except a callback that waits for the callback
 * of this thread.  No lock held.
 */
void fs_callbacks_wait_for(uint64_t number);

/* A call of fairsem_ticket_return, on the stack of that call. */
struct fs_return {
    uint64_t          number;   /* of the ticket's callbacks; 0: none, and this struct is in no list */
    pthread_t         thread;   /* r/o once in the list */
    struct fs_return *next;     /* under the callbacks' mutex */
};

/*
 * Begin and end the return of a ticket.  Between the two calls, a callback with call->number cannot take
 * its ticket again (C4).  The semaphore's mutex may be held in the first call, but no lock in the second.
 * fs_callbacks_end_return() first waits as fs_callbacks_wait_for() does, and does not touch the ticket.
 */
void fs_callbacks_begin_return(struct fs_return *call);
void fs_callbacks_end_return(struct fs_return *call);

/* Is this thread in a callback with this number, and is the ticket being returned? */
bool fs_callbacks_is_returned(uint64_t number);

#endif
