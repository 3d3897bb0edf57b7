/* SPDX-License-Identifier: MIT */
/* queue.h - enqueuing and dequeuing the waiters of a semaphore.  To be called in a section. */
#ifndef FS_QUEUE_H
#define FS_QUEUE_H

#include "sem.h"
#include "share.h"

/* Enqueue w, as the last of its priority.  A share must have been attached by fs_share_attach(). */
void fs_enqueue_thread(struct fs_section *in, struct fs_waiter *w, int priority);
void fs_enqueue_ticket(struct fs_section *in, struct fs_waiter *w, int priority);

/* Take w out of the queue, resolve it, and count it. */
void fs_dequeue(struct fs_section *in, struct fs_waiter *w, enum fs_end end);

#endif
