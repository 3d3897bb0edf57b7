/* SPDX-License-Identifier: MIT */
/* ticket.h - what a ticket is made of; see ticket.c, and callbacks.c for its callbacks. */
#ifndef FS_TICKET_H
#define FS_TICKET_H

#include "semaphore_internal.h"

struct FS_MAY_ALIAS fs_ticket {
    struct fs_waiter   waiter;      /* first */
    struct fs_sem *_Atomic sem;     /* r/o unless TAKING */
    fairsem_notify_fn *notify;      /* r/o while in line, or due; may be NULL */
    void              *arg;         /* r/o while in line, or due */
    _Atomic uint64_t   number;      /* written while TAKING, once: its own; 0: no callback yet */
    struct fs_waiter  *watchers;    /* under the semaphore's mutex: threads, linked by in_line;
                                     * NULL when not in line */
};

static inline struct fs_ticket *fs_ticket_of_queue(struct fs_list *node)
{
    static_assert(offsetof(struct fs_ticket, waiter.in_queue) == 0, "a node is its ticket");
    return (struct fs_ticket *)(void *)node;
}

static inline struct fs_ticket *fs_ticket_of(struct fs_waitq_node *node)
{
    static_assert(offsetof(struct fs_ticket, waiter) == 0, "a node is its ticket");
    return (struct fs_ticket *)node;
}

#endif
