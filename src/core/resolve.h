/* SPDX-License-Identifier: MIT */
/* resolve.h - the outcome of a waiter becomes visible. */
#ifndef FS_RESOLVE_H
#define FS_RESOLVE_H

#include "system/parking.h"
#include "waiter.h"

struct fs_section;

/* The waiter of a thread; first in struct fs_wait. */
struct fs_thread_waiter {
    struct fs_waiter  waiter;       /* first */
    struct fs_parking parking;
};

/*
 * Make a state visible, as the last access to the waiter, and note in in->after which wakes and callbacks
 * must follow: GRANTED, ENDED, WOKEN, or for a ticket that is returned NOT_QUEUED.  Mutex held.
 */
typedef void fs_resolve_fn(struct fs_waiter *w, enum fs_waiter_state state, struct fs_section *in);

fs_resolve_fn fs_resolve;

/* The same for a ticket, which has no room for a pointer.  Set before the first one is enqueued: ticket.c. */
extern fs_resolve_fn *_Atomic fs_resolve_ticket;

#endif
