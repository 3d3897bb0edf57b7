/* SPDX-License-Identifier: MIT */
/* queue.h - enqueuing and dequeuing the waiters of a semaphore.  Called in a section. */
#ifndef FS_QUEUE_H
#define FS_QUEUE_H

#include "sem.h"
#include "share.h"

/* Enqueue w, as the last of its priority.  If w has a share, call fs_share_attach() first. */
void fs_enqueue_thread(struct fs_section *in, struct fs_waiter *w, int priority);
void fs_enqueue_ticket(struct fs_section *in, struct fs_waiter *w, int priority);

/* Take w out of the queue, resolve it, and count the end of its wait. */
void fs_dequeue(struct fs_section *in, struct fs_waiter *w, enum fs_end end);

#endif
