/* SPDX-License-Identifier: MIT */
/* callbacks.h - callbacks that became due in a critical section, made when no lock is held. */
#ifndef FS_CALLBACKS_H
#define FS_CALLBACKS_H

#include "fairsem.h"
#include "list.h"
#include "waiter.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A waiter that can have a callback; the first part of a ticket.  Once it has left the queue its
 * links there are free: the queue of due callbacks uses the same memory.  Whether it is due is
 * elsewhere in the node, under the callbacks' mutex: the links are not, in the wait queue.
 */
struct fs_callback {
    union {
        struct fs_waiter waiter;
        struct fs_list   in_due;    /* under the callbacks' mutex; if waiter.in_queue.due */
    };
    fairsem_notify_fn *notify;      /* r/o while in the queue, or due; may be NULL */
    void              *arg;         /* r/o while in the queue, or due */
    _Atomic uint64_t   number;      /* its own; written once, before the first; 0: never had one */
};

/* The callbacks that have become due in one critical section, the oldest first. */
struct fs_callbacks {
    bool           any;     /* owner only: there have been some; else the list is not even made */
    struct fs_list due;     /* under the callbacks' mutex */
};

/* A number for what will have callbacks: nothing else ever had it. */
uint64_t fs_callbacks_number(void);

/* The semaphore's mutex held, and the waiter has left the queue: its callback is due. */
void fs_callbacks_add(struct fs_callbacks *callbacks, struct fs_callback *callback);

/*
 * No lock held.  Make the calls: here and now, or, in a thread that is in a callback, when that
 * one has returned.
 */
void fs_callbacks_run(struct fs_callbacks *callbacks);

/*
 * No lock held.  If *state is `value`, and the call has not begun, it is not made.  (The state
 * says that the waiter has left the queue, and is loaded with the callbacks' mutex held.)
 */
void fs_callbacks_drop(struct fs_callback *callback, const _Atomic int *state, int value);

/* No lock held.  Wait until no other thread is in a call with this number. */
void fs_callbacks_await(uint64_t number);

#endif
