/* SPDX-License-Identifier: MIT */
/* resolve.h - making the outcome of a waiter visible. */
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
 * Make a state visible: GRANTED, ENDED, WOKEN, or NOT_QUEUED for a ticket that is returned.  This is
 * the last access to the waiter.  The deferred work, in->after, gets the wakes and callbacks that must
 * follow.  Mutex held.
 */
typedef void fs_resolve_fn(struct fs_waiter *w, enum fs_waiter_state state, struct fs_section *in);

fs_resolve_fn fs_resolve;

/*
 * The function that resolves tickets.  ticket.c sets it before it enqueues the first ticket.  A ticket
 * has no room for such a pointer of its own.
 */
extern fs_resolve_fn *_Atomic fs_resolve_ticket;

#endif
