/* SPDX-License-Identifier: MIT */
/*
 * bypass.h - FAIRSEM_BOUNDED_BYPASS: threads that run may take a free unit ahead of threads
 * that sleep, until the oldest of these has waited for as long as the semaphore allows.
 *
 * A strict hand-off leaves a unit unused while the thread that got it wakes up.  Here such a
 * unit is not handed over: the head of the line is alerted, and the line is open until it
 * comes to claim.  While it is open, whoever runs takes and gives units with one
 * compare-and-swap.  What the head finds when it comes is its own; if nothing is left it goes
 * back to sleep, in its place.  (So do the waiters of most semaphores, sem_t's among them:
 * but there nothing ends it.)
 *
 *      word:   SLOW clear           nobody waits: the fast path
 *              SLOW, OPEN clear     the word is the mutex holder's (I3); the head does not fit
 *              SLOW and OPEN        the head fits, is alerted and on its way: open to all
 *
 * There is no timer.  A head that has waited too long is granted directly by the next
 * release: either the line is not open, and the release holds the mutex and sees it, or the
 * head is on its way, and the line is closed as soon as it arrives.  (So the bound is as good
 * as the scheduler: the line stays open while the alerter, or the head, is kept from running.)
 */
#ifndef FS_BYPASS_H
#define FS_BYPASS_H

#include "semaphore_internal.h"

/*
 * One thread, running, takes units past the line.  Like fs_take_fast(), which has failed,
 * with the same orders for the same reasons.
 */
static inline bool fs_bypass_take(struct fs_sem *s, int64_t n)
{
    int64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);

    while (n > 0 && word >= FS_OPEN && fs_word_available(word) >= n) {
        if (atomic_compare_exchange_weak_explicit(&s->word, &word, word - 2 * n,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

/* The same for as many as there are, at most max: how many, 0 if it is not open. */
static inline int64_t fs_bypass_take_upto(struct fs_sem *s, int64_t max)
{
    int64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);

    while (word >= FS_OPEN) {
        int64_t n = fs_word_available(word) < max ? fs_word_available(word) : max;

        if (atomic_compare_exchange_weak_explicit(&s->word, &word, word - 2 * n,
                                                  memory_order_acquire, memory_order_relaxed))
            return n;
    }
    return 0;
}

/* Gives units while the line is open.  The last touch, as in fs_give_fast(). */
static inline bool fs_bypass_give(struct fs_sem *s, int64_t n)
{
    int64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
    int64_t limit = atomic_load_explicit(&s->limit, memory_order_relaxed);

    while (word >= FS_OPEN && n <= limit - fs_word_available(word)) {
        if (atomic_compare_exchange_weak_explicit(&s->word, &word, word + 2 * n,
                                                  memory_order_release, memory_order_relaxed))
            return true;
    }
    return false;
}

/*
 * Mutex held, the line not empty.  Must what fits the head be handed to it?  If it is awake
 * there is nothing to gain from waiting for it, and a ticket has nobody to come.  Nor if any
 * ticket is in line: the thread that comes to claim would serve it, too, and call it back,
 * from a call that is not expected to.
 */
static inline bool fs_bypass_over(const struct fs_sem *s, const struct fs_waiter *head,
                                  struct fs_aftermath *after)
{
    if (s->bypass_ns == 0 || s->tickets != 0
        || atomic_load_explicit(&head->state, memory_order_relaxed) != FS_PARKED)
        return true;
    if (after->now_ns < head->since_ns)
        after->now_ns = fs_now_ns();
    return after->now_ns - head->since_ns >= s->bypass_ns;
}

/*
 * Mutex held.  May a thread that runs take n units although somebody waits?  Who wants none
 * wants to know that nobody waits.
 */
static inline bool fs_bypass_allowed(const struct fs_sem *s, int64_t available, int64_t n,
                                     struct fs_aftermath *after)
{
    return s->bypass_ns != 0 && !fs_waitq_empty(&s->line) && s->closed == 0 && n > 0
           && n <= available && s->limit != 0     /* paused */
           && !fs_bypass_over(s, fs_waiter_of(s->line.first), after);
}

#endif
