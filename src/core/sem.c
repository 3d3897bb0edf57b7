/* SPDX-License-Identifier: MIT */
/* sem.c - a semaphore in a forked child; see sem.h. */
#include "sem.h"

#include "system/fork.h"
#include "system/mutex.h"

/*
 * The semaphore was last used in an ancestor of this process.  The threads of its queue, and any thread
 * that held the mutex, do not exist here.  The count stays, except that an unfinished resize is completed.
 * (Units that a release added to a section, and that were not granted yet, are free here.)  CONTENDED may
 * still be set; the caller's section clears it.
 */
void fs_sem_reset_in_child(void *sem)
{
    struct fs_sem *s = sem;

    if (s->generation == FS_DESTROYED)
        fs_usage_error(s, "a semaphore is used after fairsem_destroy");
    fs_mutex_init(&s->mutex);
    s->queue = (struct fs_waitq){ .next_seq = s->queue.next_seq };
    if (s->resized == FS_IN_RESIZE) {
        atomic_store_explicit(&s->word, fs_word_of(s->limit - *fs_in_use(s), FS_CONTENDED),
                              memory_order_relaxed);
        atomic_store_explicit(&s->resized, FS_RESIZED, memory_order_relaxed);
    }
    s->epoch = (s->options & FS_AGING) != 0 ? FS_BY_AGE : FS_BY_PRIORITY;
    s->far = NULL;
    s->awake.near = 0;
    s->front_since_ns = 0;
    s->waiting_low = s->waiting_high = 0;
    s->tickets = 0;
    atomic_store_explicit(&s->waiters, 0, memory_order_relaxed);
}
