/* SPDX-License-Identifier: MIT */
/* ticket.h - what a ticket is made of, and how its user is told; see ticket.c and notices.c. */
#ifndef FS_TICKET_H
#define FS_TICKET_H

#include "semaphore_internal.h"

struct FS_MAY_ALIAS fs_ticket {
    struct fs_waiter   waiter;      /* first; when not in line, in_line links the notices */
    struct fs_sem *_Atomic sem;     /* r/o unless TAKING */
    fairsem_notify_fn *notify;      /* r/o while in line, or due; may be NULL */
    void              *arg;         /* r/o while in line, or due */
    struct fs_notices *notices;     /* under the notices' mutex: the list it is on, or NULL */
    struct fs_waiter  *watchers;    /* under the semaphore's mutex: threads, linked by in_line */
};

static inline struct fs_ticket *fs_ticket_of(struct fs_waitq_node *node)
{
    static_assert(offsetof(struct fs_ticket, waiter) == 0, "a node is its ticket");
    return (struct fs_ticket *)node;
}

/* The semaphore's mutex held.  The callback of t is due; it is on the list until it runs. */
void fs_notices_add(struct fs_notices *notices, struct fs_ticket *t);

/* It is not due any more: will not run, if it does not run yet. */
void fs_notices_strike_off(struct fs_ticket *t);

/* No lock held.  Wait until no other thread runs a callback of t. */
void fs_notices_await(struct fs_ticket *t);

#endif
