/* SPDX-License-Identifier: MIT */
/* callbacks.h - callbacks that become due in a critical section, and run when no lock is held. */
#ifndef FS_CALLBACKS_H
#define FS_CALLBACKS_H

#include "fairsem.h"
#include "list.h"
#include "waiter.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A waiter that can have a callback; the first part of a ticket.  Once the waiter has left the wait
 * queue, the list of due callbacks may use the memory of its links: waiter.in_queue.due, under the
 * callbacks' mutex, is true if it does.
 */
struct fs_callback {
    union {
        struct fs_waiter waiter;
        struct fs_list   in_pending;    /* under the callbacks' mutex; used if waiter.in_queue.due */
    };
    fairsem_notify_fn *notify;      /* r/o while in the queue, or due; may be NULL */
    void              *arg;         /* r/o while in the queue, or due */
    _Atomic uint64_t   number;      /* of this ticket's callbacks; 0 before the first one, then r/o */
};

/* The callbacks that have become due in one critical section, the oldest first. */
struct fs_callbacks {
    bool           any;     /* owner only; if false, there were none, and `due` is uninitialized */
    struct fs_list due;     /* under the callbacks' mutex */
};

/* Returns a unique number for an object that will have callbacks. */
uint64_t fs_callbacks_number(void);

/* Make the callback due.  The semaphore's mutex is held, and the waiter has left the queue. */
void fs_callbacks_add(struct fs_callbacks *callbacks, struct fs_callback *callback);

/*
 * Call the due callbacks.  If this thread is in a callback, they are called after that has returned.
 * No lock held.
 */
void fs_callbacks_run(struct fs_callbacks *callbacks);

/*
 * Cancel the callback, if it has not begun and the waiter is in this state, which must be one outside
 * the wait queue.  No lock held.
 */
void fs_callbacks_cancel(struct fs_callback *callback, int state);

/* Wait until no other thread is in a callback with this number.  No lock held. */
void fs_callbacks_wait_for(uint64_t number);

/* A call of fairsem_ticket_return; on its stack. */
struct fs_return {
    uint64_t          number;   /* of the ticket's callbacks; 0: it has none, and the struct is in no list */
    pthread_t         thread;   /* r/o in the list */
    struct fs_return *next;     /* under the callbacks' mutex */
};

/*
 * Begin and end the return of a ticket.  Between the two calls, a callback with call->number cannot
 * take its ticket again.  The second call first waits for such callbacks, and does not touch the
 * ticket.  No lock held.
 */
void fs_callbacks_begin_return(struct fs_return *call);
void fs_callbacks_end_return(struct fs_return *call);

/* Is this thread in a callback with this number, while its ticket is being returned? */
bool fs_callbacks_is_returned(uint64_t number);

#endif
