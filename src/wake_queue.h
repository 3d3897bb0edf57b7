/* SPDX-License-Identifier: MIT */
/*
 * wake_queue.h - the threads that a critical section has completed, to be woken once no lock is
 * held: any number of them, without memory.  (The wake_q of Linux is the same idea.)
 *
 * Parkers are chained through themselves.  A parker stays in its waker's queue until that waker
 * has woken it.  Meanwhile its thread may have seen the reason for itself, gone on, and begun to
 * wait for something else.  A second waker then finds the parker in the first one's queue, leaves
 * it there, and lists it as one to wake again.  So no thread depends on a waker that is held up.
 *
 * A word dies with its wait, so it cannot be chained, only listed.  When one of the two
 * lists is full, those on it are woken at once, with the mutex held.
 */
#ifndef FS_WAKE_QUEUE_H
#define FS_WAKE_QUEUE_H

#include "parking.h"

struct fs_wake_queue {
    struct fs_parker  *first, *last;
    int                words, agains;
    struct fs_parker  *again[8];
    const _Atomic int *word[32];
};

static inline void fs_wake_queue_init(struct fs_wake_queue *queue)
{
    queue->first = queue->last = NULL;
    queue->words = queue->agains = 0;   /* the lists stay as they are: clearing them costs more */
}

void fs_wake_queue_add_parker(struct fs_wake_queue *queue, struct fs_parker *parker);
void fs_wake_queue_add_word(struct fs_wake_queue *queue, const _Atomic int *word);

/*
 * The thread that parks with this word may be asleep, and is to be woken.  The caller changes the
 * word after this; all words added before have been changed.
 */
static inline void fs_wake_queue_add(struct fs_wake_queue *queue, const struct fs_parking *parking,
                                     const _Atomic int *word)
{
    if (parking->on_word)
        fs_wake_queue_add_word(queue, word);
    else if (parking->parker != NULL)
        fs_wake_queue_add_parker(queue, parking->parker);
}

/* Wake them all, with no semaphore's mutex held. */
void fs_wake_queue_run(struct fs_wake_queue *queue);

#endif
