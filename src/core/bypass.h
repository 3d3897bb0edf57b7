/* SPDX-License-Identifier: MIT */
/*
 * bypass.h - FAIRSEM_BOUNDED_BYPASS: running threads may take a free unit ahead of sleeping
 * threads, until the oldest of these has waited for as long as the semaphore allows.
 *
 * A strict hand-off leaves a unit unused while the thread that was granted it wakes up.  With
 * bounded bypass the unit is not granted to a sleeper.  The head of the queue is woken to claim,
 * and the queue is open until the head arrives.  While it is open, any running thread takes and
 * returns units with one compare-and-swap.  When the head arrives it is granted its units if there
 * are enough; otherwise it goes back to sleep, in its place.  (The waiters of most semaphores do
 * the same, those of sem_t among them, but there without a bound.)
 *
 *      word:   SLOW clear           nobody waits: the fast path
 *              SLOW, OPEN clear     only the mutex holder changes it (I3); the head does not fit
 *              SLOW and OPEN        the head fits, is woken and on its way: any thread changes it
 *
 * There is no timer.  A head that has waited too long is granted directly by the next release:
 * either the queue is not open, and the release holds the mutex and sees it, or the head is on its
 * way, and the queue is closed as soon as it arrives.  (So the bound depends on the scheduler: the
 * queue stays open while the waker or the head is kept from running.)
 *
 * This file has the operations without the mutex.  section.h decides when the queue is opened.
 */
#ifndef FS_BYPASS_H
#define FS_BYPASS_H

#include "word.h"

/* A running thread takes n units while the queue is open.  Memory orders as on the fast path. */
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

/* Takes as many units as there are, at most max.  Returns how many; 0 if the queue is not open. */
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

/* Returns n units while the queue is open.  Orders and the last access as in fs_release_fast(). */
static inline bool fs_bypass_release(_Atomic int64_t *word, int64_t n, int64_t limit)
{
    int64_t now = atomic_load_explicit(word, memory_order_relaxed);

    while (now >= FS_OPEN && n <= limit - fs_word_available(now)) {
        if (atomic_compare_exchange_weak_explicit(word, &now, now + 2 * n,
                                                  memory_order_acq_rel, memory_order_relaxed))
            return true;
    }
    return false;
}

#endif
