/* SPDX-License-Identifier: MIT */
/*
 * record.h - writes the history of one semaphore, without holding up its threads.
 *
 * The linker sends fs_waitq_join() and fs_waitq_leave() here first.  Their callers hold the
 * semaphore's mutex, so the events are in the queue's own order, with its own sequence numbers.
 * Writing them down takes no lock, and orders no threads that were not ordered already.  Other
 * threads load the number of events, which delays no thread either.
 *
 * It also sends pthread_mutex_lock() and _unlock(), as a second check of threads that take or
 * release beside the queue: while the queue is not empty, the word belongs to the holder of the
 * mutex.  So each critical section must find the word as the last one has left it, if the queue is
 * not empty.  Every change from outside is seen that way, unless it has been undone.
 */
#ifndef RECORD_H
#define RECORD_H

#include "history.h"

#include <fairsem.h>
#include <stdatomic.h>

#define EVENTS_MOST  (1u << 20)     /* of one round */
#define TAKES_MOST   (1u << 19)     /* of one thread, in one round */
#define THREADS_MOST 16
#define NO_SEQ       UINT32_MAX

/* Begin a history of *sem, which no thread uses yet.  false: no memory. */
bool record_begin(fairsem_t *sem, int threads);

/* When no thread uses it any more: the history, valid until the next begins. */
const struct history *record_end(void);

/* How often a section has found the word changed from outside. */
int64_t record_changes(void);

/* Is there room for some more? */
bool record_has_room(int thread);

/* Around a call of thread number `thread`: the number of events seen, and what it returned. */
uint32_t record_before(void);
void     record_after(int thread, uint32_t before, int priority, bool success);

#endif
