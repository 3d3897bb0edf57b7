/* SPDX-License-Identifier: MIT */
/*
 * deferred.h - what a critical section leaves for after its unlock (I9): waking threads, then unblocking
 * signals, then making callbacks.
 *
 * Callbacks come last, because they are the user's code, which may do anything, and throw.
 */
#ifndef FS_DEFERRED_H
#define FS_DEFERRED_H

#include "callbacks.h"
#include "signals.h"
#include "system/parking.h"

/*
 * The threads to wake: any number, without an allocation, as in the wake_q of Linux.
 *
 * Parkers (parking.h) are linked through their `next`.  A parker stays in its waker's queue until that
 * waker has woken the thread.  Meanwhile the thread may see its new state, return, and begin another wait.
 * A second waker then finds the parker in the first waker's queue, leaves it there, and lists it in
 * `others`, so that the second waker wakes the thread, too.  So no thread depends on a waker that is
 * held up.
 *
 * A word that a thread sleeps on (park_futex.c) cannot hold a link, because the word is gone when the wait
 * returns.  So the word is listed in `word`.  When `others` or `word` is full, the threads in that list are
 * woken at once, with the mutex held.
 */
struct fs_wake_queue {
    bool               any;     /* false: nothing to wake */
    struct fs_parker  *first, *last;
    int                words, n_others;
    struct fs_parker  *others[8];
    const _Atomic int *word[32];
};

/*
 * Returns true if the parker was added to this queue: parker->queued stays true until this waker has woken
 * the parker's thread.
 */
bool fs_wake_queue_add_parker(struct fs_wake_queue *queue, struct fs_parker *parker);
void fs_wake_queue_add_word(struct fs_wake_queue *queue, const _Atomic int *word);

/*
 * Add a thread that may be asleep.  `word` is its waiter's state.  The caller changes the word after this
 * call and before the next call: the next call may find the list full, and wake the added thread, which must
 * see the change.
 */
static inline void fs_wake_queue_add(struct fs_wake_queue *queue, struct fs_parking *parking,
                                     const _Atomic int *word, int64_t now_ns)
{
    queue->any = true;
    parking->woken_ns = now_ns;
    if (parking->on_word)
        fs_wake_queue_add_word(queue, word);
    else if (parking->parker != NULL)
        parking->in_wake_queue = fs_wake_queue_add_parker(queue, parking->parker);
}

/*
 * Has the waker that queued the thread's parker made its system call?  Relaxed: the caller reads nothing
 * else that the waker wrote.
 */
static inline bool fs_wake_was_made(const struct fs_parking *parking)
{
    return parking->in_wake_queue && !atomic_load_explicit(&parking->parker->queued, memory_order_relaxed);
}

void fs_wake_queue_run(struct fs_wake_queue *queue);

struct fs_deferred {
    struct fs_blocked_signals signals;     /* of an interruptible semaphore's section */
    struct fs_callbacks    callbacks;
    struct fs_wake_queue   wakes;
};

/* Set single members: clearing the struct would cost more than the rest of a contended call. */
static inline void fs_deferred_init(struct fs_deferred *deferred)
{
    deferred->signals.held = false;
    deferred->callbacks.any = false;
    deferred->wakes.any = false;
    deferred->wakes.first = deferred->wakes.last = NULL;
    deferred->wakes.words = deferred->wakes.n_others = 0;
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
