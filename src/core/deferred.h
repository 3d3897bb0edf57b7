/* SPDX-License-Identifier: MIT */
/*
 * deferred.h - deferred work: what a critical section leaves for after its unlock (I9).
 *
 * In this order: wake threads, unblock signals, make callbacks.  Callbacks come last because
 * they are the user's code, which may do anything, and throw.
 */
#ifndef FS_DEFERRED_H
#define FS_DEFERRED_H

#include "callbacks.h"
#include "signals.h"
#include "system/parking.h"

/*
 * The threads to wake: any number of them, without an allocation.  (The wake_q of Linux is the same
 * idea.)
 *
 * Parkers are linked through their own `next`.  A parker stays in its waker's queue until that waker
 * has woken it.  By then its thread may have seen its new state, returned, and begun another wait.  A
 * second waker then finds the parker in the first one's queue, leaves it there, and lists it in
 * `elsewhere`, to wake it, too.  So no thread depends on a waker that is held up.
 *
 * A word is gone when its wait returns, so it cannot hold a link, and is listed in `word`.  When
 * one of these two lists is full, the threads on it are woken at once, with the mutex held.
 */
struct fs_wake_queue {
    bool               any;     /* false: there is no thread to wake */
    struct fs_parker  *first, *last;
    int                words, n_elsewhere;
    struct fs_parker  *elsewhere[8];
    const _Atomic int *word[32];
};

/* Returns true if the parker is in this queue, and stays `queued` until its wake has been made. */
bool fs_wake_queue_add_parker(struct fs_wake_queue *queue, struct fs_parker *parker);
void fs_wake_queue_add_word(struct fs_wake_queue *queue, const _Atomic int *word);

/*
 * Add a thread that may be asleep.  It parks with this word, the state of its waiter.  The caller must
 * change the word after this call, and before the next one, because a full list wakes its threads at
 * once.
 */
static inline void fs_wake_queue_add(struct fs_wake_queue *queue, struct fs_parking *parking,
                                     const _Atomic int *word, int64_t now_ns)
{
    queue->any = true;
    parking->woken_ns = now_ns;
    if (parking->on_word)
        fs_wake_queue_add_word(queue, word);
    else if (parking->parker != NULL)
        parking->listed = fs_wake_queue_add_parker(queue, parking->parker);
}

/*
 * Has the first waker made the call that wakes this thread?  Relaxed: the waker's store publishes
 * nothing else.
 */
static inline bool fs_wake_was_made(const struct fs_parking *parking)
{
    return parking->listed && !atomic_load_explicit(&parking->parker->queued, memory_order_relaxed);
}

/* Wake all threads of the queue, with no semaphore's mutex held. */
void fs_wake_queue_run(struct fs_wake_queue *queue);

struct fs_deferred {
    struct fs_blocked_signals signals;     /* of an interruptible semaphore's section */
    struct fs_callbacks    callbacks;
    struct fs_wake_queue   wakes;
};

/*
 * The members are set one by one: clearing the whole struct would cost more than the rest of a
 * contended call.
 */
static inline void fs_deferred_init(struct fs_deferred *deferred)
{
    deferred->signals.held = false;
    deferred->callbacks.any = false;
    deferred->wakes.any = false;
    deferred->wakes.first = deferred->wakes.last = NULL;
    deferred->wakes.words = deferred->wakes.n_elsewhere = 0;
}

/* Do the deferred work.  No lock held. */
static inline void fs_deferred_run(struct fs_deferred *deferred)
{
    if (deferred->wakes.any)
        fs_wake_queue_run(&deferred->wakes);
    if (deferred->signals.held)
        fs_unblock_signals(&deferred->signals);
    if (deferred->callbacks.any)
        fs_callbacks_run(&deferred->callbacks);
}

#endif
