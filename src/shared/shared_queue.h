/* SPDX-License-Identifier: MIT */
/*
 * shared_queue.h - the slots, and the queue of those that wait: by priority, then by number.
 *
 * Functions that take a section need the lock; those that take a handle do not.  An index is valid, or
 * FS_NOBODY.
 */
#ifndef FS_SHARED_QUEUE_H
#define FS_SHARED_QUEUE_H

#include "shared/trust.h"

static inline int fs_slot_state_of(const struct fs_slot *slot)
{
    /* Acquire order, because the slot's thread calls this without the lock. */
    return atomic_load_explicit(&slot->state, memory_order_acquire);
}

/*
 * Move the oldest request to the front if it has waited for attr.aging_ns.  Call it before anything depends on
 * the front.  Returns true if the request has moved, and was a detector.
 */
bool fs_queue_note_age(struct fs_shared_section *in, int64_t now_ns);

/* Would fs_queue_note_age() change the front?  Without the lock, the result is a hint. */
bool fs_queue_is_age_due(const fairsem_shared_t *h, int64_t now_ns);

/* Is the front waiter an aged one that precedes a waiter of a better priority? */
bool fs_queue_head_passes(struct fs_shared_section *in, int head);

int fs_queue_front(struct fs_shared_section *in);

/* Returns the slot behind this one. */
int fs_queue_behind(struct fs_shared_section *in, int index);

/* Would a request of this priority be at the front? */
bool fs_queue_leads(struct fs_shared_section *in, int priority);

void fs_queue_enqueue(struct fs_shared_section *in, int index);
void fs_queue_dequeue(struct fs_shared_section *in, int index);
void fs_queue_clear(struct fs_shared_section *in);

/* Move a slot whose tag has become smaller towards the front.  Returns false if it is in its place already. */
bool fs_queue_move_ahead(struct fs_shared_section *in, int index);

/* Store the detectors, which are the last two slots of the queue (R4), and return how many there are. */
int fs_queue_last_two(struct fs_shared_section *in, int last[2]);

/* Is this slot a detector?  Without the lock, the result is a hint. */
bool fs_queue_is_detector(const fairsem_shared_t *h, int index);

/* Returns a free slot, or FS_NOBODY. */
int fs_slot_find_free(const fairsem_shared_t *h);

#endif
