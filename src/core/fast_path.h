/* SPDX-License-Identifier: MIT */
/*
 * fast_path.h - one compare-and-swap while CONTENDED is clear.
 *
 * If the fast path fails, a section decides, so that all refusals are in one place.  The
 * exceptions are fs_plainly_too_few() and fs_too_few_now(): the sections of a thread that polls with try would
 * keep all other threads off the fast path.
 *
 * This is the only header of the core that the sem_t layers (src/posix/, src/preload/) and the benchmarks may
 * include.  Calling the public functions instead would double the cost of a sem_t operation.
 */
#ifndef FS_FAST_PATH_H
#define FS_FAST_PATH_H

#include "sem.h"
#include "signals.h"
#include "system/fork.h"
#include "system/system.h"

/*
 * Take n units.  Acquire order: the caller must see what their releaser wrote before.
 *
 * Returns false also if n is invalid or 0.  While CONTENDED is clear, a front may be on its way to compete,
 * and even a request for 0 units must not pass that front.
 */
static inline bool fs_acquire_fast(struct fs_sem *s, int64_t n)
{
    int64_t now = atomic_load_explicit(&s->word, memory_order_relaxed);

    while ((uint64_t)n - 1 < (uint64_t)FAIRSEM_MAX_UNITS && (now & FS_CONTENDED) == 0 && now >= 2 * n) {
        if (atomic_compare_exchange_weak_explicit(&s->word, &now, now - 2 * n,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

/* Take all free units, at most max.  Returns their number, or -1 if CONTENDED is set. */
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
 * Returns the limit, or -1 if it was ever changed: after a change, only a section can read a limit and a
 * word that belong together.  Acquire order: a thread that sees a new limit must see `resized`, too.
 */
static inline int64_t fs_fixed_limit(const struct fs_sem *s)
{
    int64_t limit = atomic_load_explicit(&s->limit, memory_order_acquire);

    return atomic_load_explicit(&s->resized, memory_order_relaxed) != FS_NEVER_RESIZED ? -1 : limit;
}

/*
 * Does a request for n units fail only because too few are free?  While CONTENDED is clear, any request may
 * take units, and the semaphore is neither closed nor paused.  So the limit is at least 1, even if it was
 * changed, and a request for 1 unit is never too large.  (In zeroed memory the limit is 0; the result is
 * false, and the section ends the process.)
 *
 * Acquire order: a thread that sees this word must see all earlier changes of the capacity.
 */
static inline bool fs_plainly_too_few(const struct fs_sem *s, int64_t n)
{
    int64_t word = atomic_load_explicit(&s->word, memory_order_acquire);
    int64_t limit = n == 1 ? atomic_load_explicit(&s->limit, memory_order_relaxed) : fs_fixed_limit(s);

    return (word & FS_CONTENDED) == 0 && word < 2 * n && n <= limit;
}

/*
 * Are fewer than n units free at this moment?  The answer is right even while CONTENDED is set: a release
 * changes the word before it returns, and a release that has not returned need not be seen.  So a try can
 * be refused without a section, unless the semaphore is closed or paused.  Relaxed: the caller takes no
 * units.
 */
static inline bool fs_too_few_now(struct fs_sem *s, int64_t n)
{
    return fs_word_available(atomic_load_explicit(&s->word, memory_order_relaxed)) < n;
}

/*
 * Release n units: with to_section, to a section that takes returns (section.c); otherwise to a word
 * without CONTENDED.  Returns false if the word is in another state, or if the units exceed the limit.
 *
 * Release order: the thread that takes these units must see what this thread wrote before.  Acquire order:
 * this thread must see that a waiter has left the queue.  (Example: another thread returns the only queued
 * ticket; then this thread releases units, and claims that ticket.  The claim must not find the ticket waiting:
 * the release took the fast path, so no ticket was in the queue.)
 *
 * The compare-and-swap is the last access to *s, which may be freed from then on.
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

/* Is a request in the queue?  A hint: a section could tell exactly, but would end a bypass. */
static inline bool fs_seems_waited_for(const struct fs_sem *s)
{
    return atomic_load_explicit(&s->waiters, memory_order_relaxed) != 0;
}

/*
 * The sem_t layers also use fs_fork_exclude() (system/fork.h).  The interposer (src/preload/), which wraps
 * signal handlers and siglongjmp(), also uses fs_signal_hooks (signals.h), fs_forked() (system/fork.h), and
 * these functions of wait.c.
 */
void fs_abandon_wait(void *wait);
void fs_interrupt_wait(void *wait, bool restarts);

/*
 * The interposer also uses these functions of capacity.c, because it reuses the memory of its semaphores
 * while other threads may still be in a call.
 *
 * fs_retire: take all units, and close the semaphore.  *units is the number of free units, stored before a
 * thread can find the semaphore retired.  From then on every acquire and every release returns FS_RETIRED,
 * and changes nothing.  Returns false if a request waits, or if the semaphore is closed or retired already.
 *
 * fs_reuse: open the semaphore again, with `units` free units.  in_all: the initial number of units.
 */
#define FS_RETIRED (-1)     /* fairsem_close() accepts no such reason */
bool fs_retire(struct fs_sem *s, _Atomic int64_t *units);
void fs_reuse(struct fs_sem *s, int64_t units, int64_t in_all);

/* Is the semaphore retired?  Acquire order, for a later load of the *units of fs_retire(). */
static inline bool fs_retired(const struct fs_sem *s)
{
    return atomic_load_explicit(&s->closed, memory_order_acquire) == FS_RETIRED;
}

#endif
