/* SPDX-License-Identifier: MIT */
/*
 * bypass.h - FAIRSEM_BOUNDED_BYPASS: running threads may take a free unit ahead of sleeping
 * threads, until the oldest of these has waited for as long as the semaphore allows.
 *
 * A strict hand-off leaves a unit unused while the thread that was granted it wakes up.  With
 * bounded bypass the unit is not granted to a sleeper.  The head of the queue is woken to claim,
 * and the queue is open until it comes.  While it is open, any running thread takes and returns
 * units with one compare-and-swap.  The head is granted what it finds when it comes; if too little
 * is left it goes back to sleep, in its place.  (So do the waiters of most semaphores, sem_t's
 * among them, but there nothing bounds it.)
 *
 *      word:   SLOW clear           nobody waits: the fast path
 *              SLOW, OPEN clear     the word is the mutex holder's (I3); the head does not fit
 *              SLOW and OPEN        the head fits, is woken and on its way: open to all
 *
 * There is no timer.  A head that has waited too long is granted directly by the next release:
 * either the queue is not open, and the release holds the mutex and sees it, or the head is on its
 * way, and the queue is closed as soon as it arrives.  (So the bound is as good as the scheduler:
 * the queue stays open while the waker, or the head, is kept from running.)
 *
 * Here is what a thread does without the mutex.  When the queue is opened is decided in section.h.
 */
#ifndef FS_BYPASS_H
#define FS_BYPASS_H

#include "word.h"

/* A running thread takes n units while the queue is open.  The orders are the fast path's. */
static inline bool fs_bypass_acquire(_Atomic int64_t *word, int64_t n)
{
    int64_t now = atomic_load_explicit(word, memory_order_relaxed);

    while (n > 0 && now >= FS_OPEN && fs_word_available(now) >= n) {
        if (atomic_compare_exchange_weak_explicit(word, &now, now - 2 * n,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

/* The same for as many as there are, at most max: how many, 0 if the queue is not open. */
static inline int64_t fs_bypass_acquire_upto(_Atomic int64_t *word, int64_t max)
{
    int64_t now = atomic_load_explicit(word, memory_order_relaxed);

    while (now >= FS_OPEN) {
        int64_t n = fs_word_available(now) < max ? fs_word_available(now) : max;

        if (atomic_compare_exchange_weak_explicit(word, &now, now - 2 * n,
                                                  memory_order_acquire, memory_order_relaxed))
            return n;
    }
    return 0;
}

/* Returns n units while the queue is open.  The last touch, as in fs_release_fast(). */
static inline bool fs_bypass_release(_Atomic int64_t *word, int64_t n, int64_t limit)
{
    int64_t now = atomic_load_explicit(word, memory_order_relaxed);

    while (now >= FS_OPEN && n <= limit - fs_word_available(now)) {
        if (atomic_compare_exchange_weak_explicit(word, &now, now + 2 * n,
                                                  memory_order_release, memory_order_relaxed))
            return true;
    }
    return false;
}

#endif
