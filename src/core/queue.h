/* SPDX-License-Identifier: MIT */
/*
 * queue.h - into a semaphore's queue, and out of it.
 *
 * In a section, for all of this.
 */
#ifndef FS_QUEUE_H
#define FS_QUEUE_H

#include "sem.h"

/* Let w join, as the last of its priority. */
void fs_join_thread(struct fs_section *in, struct fs_waiter *w, int priority);
void fs_join_ticket(struct fs_section *in, struct fs_waiter *w, int priority);

/* Take w out of the queue, complete it, and count it. */
void fs_leave(struct fs_section *in, struct fs_waiter *w, enum fs_end end);

/*
 * The head fits, but is not granted: wake it, so that it competes for its units.  It counts as a
 * grant for what the semaphore learns.
 */
void fs_wake_to_compete(struct fs_section *in, struct fs_waiter *head);

/* Another one is the head from now on. */
static inline void fs_head_has_changed(struct fs_sem *s, int64_t now_ns)
{
    s->head_since_ns = now_ns;
}

#endif
