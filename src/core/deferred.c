/* SPDX-License-Identifier: MIT */
/* deferred.c - the threads to wake once no lock is held; see deferred.h. */
#include "deferred.h"

#include <stddef.h>

/* Wake the threads whose parkers were in a wake queue already, and leave the parkers there. */
static void wake_others(struct fs_wake_queue *queue)
{
    for (int i = 0; i < queue->n_others; i++)
        fs_unpark(queue->others[i], false);
    queue->n_others = 0;
}

static void wake_words(struct fs_wake_queue *queue)
{
    for (int i = 0; i < queue->words; i++)
        fs_unpark_word(queue->word[i]);
    queue->words = 0;
}

bool fs_wake_queue_add_parker(struct fs_wake_queue *queue, struct fs_parker *parker)
{
    /* Acquire order: the waker that cleared `queued` has read `next`, which is overwritten below. */
    if (atomic_load_explicit(&parker->queued, memory_order_acquire)) {
        if (queue->n_others == (int)(sizeof queue->others / sizeof queue->others[0]))
            wake_others(queue);
        queue->others[queue->n_others++] = parker;
        return false;
    }
    /* Relaxed: the caller's store of the new state publishes `queued`. */
    atomic_store_explicit(&parker->queued, true, memory_order_relaxed);
    parker->next = NULL;
    if (queue->last != NULL)
        queue->last->next = parker;
    else
        queue->first = parker;
    queue->last = parker;
    return true;
}

void fs_wake_queue_add_word(struct fs_wake_queue *queue, const _Atomic int *word)
{
    if (queue->words == (int)(sizeof queue->word / sizeof queue->word[0]))
        wake_words(queue);
    queue->word[queue->words++] = word;
}

/*
 * This thread makes all wakes.  No wake depends on a woken thread, which may be in a signal handler, or
 * have no core.
 */
void fs_wake_queue_run(struct fs_wake_queue *queue)
{
    struct fs_parker *parker = queue->first, *next;

    wake_words(queue);
    wake_others(queue);
    for (; parker != NULL; parker = next) {
        next = parker->next;        /* once woken, the parker may be in another wake queue */
        fs_unpark(parker, true);
    }
    queue->first = queue->last = NULL;
    queue->any = false;
}
