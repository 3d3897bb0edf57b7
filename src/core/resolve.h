/* SPDX-License-Identifier: MIT */
/* resolve.h - resolving a waiter: making its new state visible. */
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
 * Make a new state visible: GRANTED, ENDED, WOKEN, or NOT_QUEUED for a ticket that is returned.  The wakes
 * and callbacks that must follow go to in->after.  Do not touch the waiter after this, unless the state is
 * WOKEN (I8).  Mutex held.
 */
typedef void fs_resolve_fn(struct fs_waiter *w, enum fs_waiter_state state, struct fs_section *in);

fs_resolve_fn fs_resolve;

/*
 * The function that resolves tickets.  ticket.c sets this pointer before the first ticket is enqueued; a
 * ticket has no room for a pointer of its own.
 */
extern fs_resolve_fn *_Atomic fs_resolve_ticket;

#endif
