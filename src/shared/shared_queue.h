/* SPDX-License-Identifier: MIT */
/*
 * shared_queue.h - the slots, and the queue of those that wait, by priority, then by number.
 *
 * The lock is held, except where a function takes a handle.  An index is valid, or FS_NOBODY.
 */
#ifndef FS_SHARED_QUEUE_H
#define FS_SHARED_QUEUE_H

#include "shared/trust.h"

static inline int fs_slot_state_of(const struct fs_slot *slot)
{
    /* Acquire order, for its thread, which does not have the lock. */
    return atomic_load_explicit(&slot->state, memory_order_acquire);
}

/*
 * attr.aging_ns: the oldest request comes before all others once it has waited for so long.  Called
 * before anything depends on who is the head.  True: it kept watch, and comes to the head now.
 */
bool fs_queue_note_age(struct fs_shared_section *in, int64_t now_ns);

/* Would fs_queue_note_age() change the head?  Without the lock, a hint. */
bool fs_queue_is_age_due(const fairsem_shared_t *h, int64_t now_ns);

/* Is the head there because it is old, before a better priority? */
bool fs_queue_head_passes(struct fs_shared_section *in, int head);

int fs_queue_front(struct fs_shared_section *in);

/* The slot behind this one. */
int fs_queue_behind(struct fs_shared_section *in, int index);

/* Would a request of this priority be the head? */
bool fs_queue_leads(struct fs_shared_section *in, int priority);

void fs_queue_enqueue(struct fs_shared_section *in, int index);
void fs_queue_dequeue(struct fs_shared_section *in, int index);
void fs_queue_clear(struct fs_shared_section *in);

/* The last two, of which there may be fewer: those that keep watch (R4).  How many. */
int fs_queue_last_two(struct fs_shared_section *in, int last[2]);

/* Is it one of these?  Without the lock, a hint. */
bool fs_queue_is_detector(const fairsem_shared_t *h, int index);

/* A slot that is free, or FS_NOBODY. */
int fs_slot_find_free(const fairsem_shared_t *h);

#endif
