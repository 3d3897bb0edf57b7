/* SPDX-License-Identifier: MIT */
/*
 * fast_path.h - one compare-and-swap while CONTENDED is clear.
 *
 * Where the fast path fails, the critical section decides, so that all refusals are in one place.
 * There is one exception, fs_plainly_too_few(): a thread that polls with try must not keep all others
 * off the fast path.
 *
 * This is the only header of the core that the sem_t layers (src/posix/, src/preload/) and the
 * benchmarks may include: two more calls would double the cost of a sem_t operation.
 */
#ifndef FS_FAST_PATH_H
#define FS_FAST_PATH_H

#include "sem.h"
#include "signals.h"
#include "system/fork.h"
#include "system/system.h"

/*
 * Take n units.  Acquire order: the caller must see what the releaser of these units wrote before.
 *
 * Returns false if n is invalid, or 0: with bounded bypass CONTENDED is clear while the front waiter is
 * on its way to compete, and even a request for no units must not pass it.
 */
static inline bool fs_acquire_fast(struct fs_sem *s, int64_t n)
{
    int64_t now = atomic_load_explicit(&s->word, memory_order_relaxed);

    /* One comparison checks that n is neither too small nor too large. */
    while ((uint64_t)n - 1 < (uint64_t)FAIRSEM_MAX_UNITS && (now & FS_CONTENDED) == 0 && now >= 2 * n) {
        if (atomic_compare_exchange_weak_explicit(&s->word, &now, now - 2 * n,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

/* Take as many units as there are, at most max.  Returns -1 if CONTENDED is set. */
static inline int64_t fs_acquire_fast_upto(struct fs_sem *s, int64_t max)
{
    _Atomic int64_t *word = &s->word;
    int64_t now = atomic_load_explicit(word, memory_order_relaxed);

    while ((now & FS_CONTENDED) == 0) {
        int64_t n = fs_word_available(now) < max ? fs_word_available(now) : max;

        if (n <= 0)
            return 0;
        if (atomic_compare_exchange_weak_explicit(word, &now, now - 2 * n,
                                                  memory_order_acquire, memory_order_relaxed))
            return n;
    }
    return -1;
}

/*
 * Returns the limit if it has never been changed, otherwise -1: then only a section can read the limit and
 * the word as of the same moment.  Acquire order: a thread that sees a new limit must see `resized`.
 */
static inline int64_t fs_fixed_limit(const struct fs_sem *s)
{
    int64_t limit = atomic_load_explicit(&s->limit, memory_order_acquire);

    return atomic_load_explicit(&s->resized, memory_order_relaxed) != FS_NEVER_RESIZED ? -1 : limit;
}

/*
 * Returns true if a request fails only because too few units are free: while CONTENDED is clear, any
 * request may take units, and the semaphore is neither closed nor paused.  So one unit is never more
 * than the limit.  (In zeroed memory the limit is 0, and the section stops the process.)
 *
 * Acquire order: a capacity that was changed before this word was stored must be seen with it.
 */
static inline bool fs_plainly_too_few(const struct fs_sem *s, int64_t n)
{
    int64_t word = atomic_load_explicit(&s->word, memory_order_acquire);
    int64_t limit = n == 1 ? atomic_load_explicit(&s->limit, memory_order_relaxed) : fs_fixed_limit(s);

    return (word & FS_CONTENDED) == 0 && word < 2 * n && n <= limit;
}

/*
 * Are too few units free at this moment?  The answer is right even while CONTENDED is set: a release
 * that has returned has changed the word, and one that has not returned need not be seen.  So a try can
 * be refused without a critical section, if the semaphore is neither closed nor paused.  Relaxed: a
 * thread that takes no units need not see what their releasers wrote.
 */
static inline bool fs_too_few_now(struct fs_sem *s, int64_t n)
{
    return fs_word_available(atomic_load_explicit(&s->word, memory_order_relaxed)) < n;
}

/*
 * Return n units, if CONTENDED is clear; or, with to_section, if a section takes returns (section.c).
 * Returns false if that is not possible, or if the units exceed the limit.
 *
 * Release order: the thread that takes these units must see what we wrote before.  Acquire order: we
 * must see that a waiter has left the queue.  (If another thread returns a ticket, and this one
 * releases with an empty queue and then claims that ticket, the claim must not say that the ticket
 * still waits: this release would have granted it.)  The compare-and-swap is the last access to *s,
 * which may be freed from then on.
 */
static inline bool fs_give(struct fs_sem *s, int64_t n, bool to_section)
{
    int64_t now = atomic_load_explicit(&s->word, memory_order_relaxed);
    int64_t most = fs_word_of(atomic_load_explicit(&s->limit, memory_order_relaxed) - n,
                              to_section ? FS_CONTENDED + FS_RETURNS : 0);

    while ((to_section ? now >= FS_RETURNS : (now & FS_CONTENDED) == 0) && now <= most) {
        if (atomic_compare_exchange_weak_explicit(&s->word, &now, now + 2 * n,
                                                  memory_order_acq_rel, memory_order_relaxed))
            return true;
    }
    return false;
}

/* ---- For the sem_t layers ---- */

/* Is a request in the queue?  A hint: only a section could tell exactly, but it would end a bypass. */
static inline bool fs_seems_waited_for(const struct fs_sem *s)
{
    return atomic_load_explicit(&s->waiters, memory_order_relaxed) != 0;
}

/*
 * The sem_t layer also needs fs_fork_exclude() in system/fork.h.  The interposer, which wraps signal
 * handlers and siglongjmp(), also needs these functions of wait.c, fs_signal_hooks in signals.h,
 * and fs_forked() in system/fork.h.
 */
void fs_abandon_wait(void *wait);
void fs_interrupt_wait(void *wait, bool restarts);

/*
 * The interposer also needs these functions of capacity.c, because it keeps the memory of its
 * semaphores, and uses it again while other threads may still be in a call.
 *
 * fs_retire: if the queue is empty, take all units and close the semaphore.  *units is the number of
 * free units, stored before a thread can find the semaphore retired.  From then on an acquire and a
 * release return FS_RETIRED, and change nothing.  Returns false if a request waits, or if the semaphore
 * is closed or retired already.
 *
 * fs_reuse: open the semaphore again, with `units` free units of `in_all`.
 */
#define FS_RETIRED (-1)     /* not a possible reason of fairsem_close() */
bool fs_retire(struct fs_sem *s, _Atomic int64_t *units);
void fs_reuse(struct fs_sem *s, int64_t units, int64_t in_all);

/* Is the semaphore retired?  Acquire order, for a later load of *units. */
static inline bool fs_retired(const struct fs_sem *s)
{
    return atomic_load_explicit(&s->closed, memory_order_acquire) == FS_RETIRED;
}

#endif
