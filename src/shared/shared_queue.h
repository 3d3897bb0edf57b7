/* SPDX-License-Identifier: MIT */
/*
 * shared_queue.h - the slots, and the queue of those that wait, by priority, then by number.
 *
 * The lock is held.  Each function with an error returns 0, or ENOTRECOVERABLE: a link is damaged.
 */
#ifndef FS_SHARED_QUEUE_H
#define FS_SHARED_QUEUE_H

#include "shared/handle.h"

/* Mark the segment as damaged; returns ENOTRECOVERABLE. */
int fs_shared_is_damaged(fairsem_shared_t *h);

static inline int fs_slot_state_of(const struct fs_slot *slot)
{
    /* Acquire order, for its thread, which does not have the lock. */
    return atomic_load_explicit(&slot->state, memory_order_acquire);
}

/*
 * attr.aging_ns: the oldest request comes before all others once it has waited for so long.  Called
 * before anything depends on who is the head.  *watched: it kept watch, and comes to the head now.
 */
int fs_queue_note_age(fairsem_shared_t *h, int64_t now_ns, bool *watched);

/* Would fs_queue_note_age() change the head?  Without the lock, a hint. */
bool fs_queue_is_age_due(const fairsem_shared_t *h, int64_t now_ns);

/* Is the head there because it is old, before a better priority? */
bool fs_queue_head_passes(const fairsem_shared_t *h, int head);

/* The head: a valid index, or FS_NOBODY. */
int fs_queue_head(fairsem_shared_t *h, int *head);

/* Would a request of this priority be the head? */
int fs_queue_leads(fairsem_shared_t *h, int priority, bool *leads);

int  fs_queue_join(fairsem_shared_t *h, int index);
int  fs_queue_leave(fairsem_shared_t *h, int index);
void fs_queue_clear(fairsem_shared_t *h);

/* The slot behind this one: a valid index, or FS_NOBODY. */
int fs_queue_behind(fairsem_shared_t *h, int index, int *behind);

/* The last two, of which there may be fewer: those that keep watch (R4).  How many. */
int fs_queue_last_two(fairsem_shared_t *h, int last[2]);

/* Is it one of these?  Without the lock, a hint. */
bool fs_queue_keeps_watch(const fairsem_shared_t *h, int index);

/* The process that a slot in use belongs to: a valid index. */
int fs_slot_process(fairsem_shared_t *h, int index, int *process);

/* A slot that is free, or FS_NOBODY. */
int fs_slot_find_free(fairsem_shared_t *h);

#endif
