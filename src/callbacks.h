/* SPDX-License-Identifier: MIT */
/* callbacks.h - the calls that tickets have asked for, made when no lock is held. */
#ifndef FS_CALLBACKS_H
#define FS_CALLBACKS_H

#include "list.h"

#include <stdbool.h>
#include <stdint.h>

struct fs_ticket;

/* The calls that have become due in one critical section, the oldest first. */
struct fs_callbacks {
    bool           any;     /* owner only: there have been some; else the list is not even made */
    struct fs_list due;     /* under the callbacks' mutex */
};

/* A number for a ticket that will have callbacks: no other one ever had it. */
uint64_t fs_callbacks_number(void);

/* The semaphore's mutex held.  The callback of t is due. */
void fs_callbacks_add(struct fs_callbacks *callbacks, struct fs_ticket *t);

/*
 * No lock held.  Make the calls: here and now, or, in a thread that is in a callback, when that
 * one has returned.
 */
void fs_callbacks_run(struct fs_callbacks *callbacks);

/*
 * No lock held.  A ticket that is being claimed or returned, and has a number: its call is not
 * made, if it has not begun.  Nothing happens to one that has come to any other state.
 */
void fs_callbacks_drop(struct fs_ticket *t);

/* No lock held.  Wait until no other thread is in a callback of the ticket with this number. */
void fs_callbacks_await(uint64_t number);

/* In the child, after a fork: see fork.c. */
void fs_callbacks_in_child(void);

#endif
