/* SPDX-License-Identifier: MIT */
/*
 * shared_queue.h - the slots, and the queue of waiting slots: aged slots first, then by priority, then
 * by tag (shared_flow.h) or number.
 *
 * Functions with a section as argument need the lock; functions with only a handle do not.  A function that
 * returns a slot returns a valid index or FS_NOBODY.
 */
#ifndef FS_SHARED_QUEUE_H
#define FS_SHARED_QUEUE_H

#include "shared/trust.h"

static inline int fs_slot_state_of(const struct fs_slot *slot)
{
    /* Acquire order: the slot's thread, without the lock, must see what its granter wrote. */
    return atomic_load_explicit(&slot->state, memory_order_acquire);
}

/*
 * If the oldest request has waited for aging_ns, move it to the front.  Returns true if the request has
 * moved, and was a detector.
 */
bool fs_queue_note_age(struct fs_shared_section *in, int64_t now_ns);

/* Would fs_queue_note_age() change the front?  Without the lock, the result is a hint. */
bool fs_queue_is_age_due(const fairsem_shared_t *h, int64_t now_ns);

/* Has the front waiter aged, and is the waiter behind it of a better priority? */
bool fs_queue_front_passes(struct fs_shared_section *in, int front);

int fs_queue_front(struct fs_shared_section *in);

int fs_queue_behind(struct fs_shared_section *in, int index);

/* Would a new request of this priority be the front? */
bool fs_queue_leads(struct fs_shared_section *in, int priority);

void fs_queue_enqueue(struct fs_shared_section *in, int index);
void fs_queue_dequeue(struct fs_shared_section *in, int index);
void fs_queue_clear(struct fs_shared_section *in);

/* Move a slot towards the front, after its tag was lowered.  Returns false if the slot need not move. */
bool fs_queue_move_ahead(struct fs_shared_section *in, int index);

/* Store the last two slots, which are detectors (R4) unless abandoned, in last[].  Returns their number. */
int fs_queue_last_two(struct fs_shared_section *in, int last[2]);

/* Is this slot a detector?  Without the lock, the result is a hint. */
bool fs_queue_is_detector(const fairsem_shared_t *h, int index);

int fs_slot_find_free(const fairsem_shared_t *h);

#endif
