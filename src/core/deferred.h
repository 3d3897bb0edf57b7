/* SPDX-License-Identifier: MIT */
/*
 * deferred.h - deferred work: what a critical section leaves for after its unlock (I9).
 *
 * In this order: wake threads, let signals in again, make callbacks.  Callbacks come last because
 * they are the user's code, which may do anything, and throw.
 */
#ifndef FS_DEFERRED_H
#define FS_DEFERRED_H

#include "callbacks.h"
#include "signals.h"
#include "wake_queue.h"

struct fs_deferred {
    struct fs_held_signals signals;     /* of an interruptible semaphore's section */
    struct fs_callbacks    callbacks;
    struct fs_wake_queue   wakes;
};

/* Member by member: to clear the whole struct would cost more than the rest of a contended call. */
static inline void fs_deferred_init(struct fs_deferred *deferred)
{
    deferred->signals.held = false;
    deferred->callbacks.any = false;
    fs_wake_queue_init(&deferred->wakes);
}

/* No lock held. */
static inline void fs_deferred_run(struct fs_deferred *deferred)
{
    if (!fs_wake_queue_empty(&deferred->wakes))
        fs_wake_queue_run(&deferred->wakes);
    if (deferred->signals.held)
        fs_let_signals_in(&deferred->signals);
    if (deferred->callbacks.any)
        fs_callbacks_run(&deferred->callbacks);
}

#endif
