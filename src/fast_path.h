/* SPDX-License-Identifier: MIT */
/*
 * fast_path.h - one compare-and-swap while SLOW is clear.
 *
 * It does what it plainly can and leaves the rest to the critical section, so that refusals are
 * decided in one place.  There is one exception, fs_plainly_too_few(): a thread that polls with
 * try must not keep all others off the fast path.
 *
 * This is the library's one internal door.  The sem_t layer (posix/) and the benchmarks may
 * include it besides the public header, and nothing else of src/: two calls more would double
 * the price of a sem_t operation.
 */
#ifndef FS_FAST_PATH_H
#define FS_FAST_PATH_H

#include "sem.h"
#include "signals.h"

/*
 * What the interposer needs as well, because it stands in front of signal handlers and of
 * siglongjmp(): fs_guard, an object of struct fs_guard, see signals.h; and this function of wait.c.
 */
void fs_abandon_wait(void *wait);

/* Acquire order: what the releaser of these units wrote before is ours to read. */
static inline bool fs_acquire_fast(struct fs_sem *s, int64_t n)
{
    int64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);

    while ((word & FS_SLOW) == 0 && word >= 2 * n) {
        if (atomic_compare_exchange_weak_explicit(&s->word, &word, word - 2 * n,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

/*
 * SLOW is clear, so nobody waits, it is open and not paused: there is too little, that is all.
 *
 * The word and the limit must be of one moment, or a capacity that grows meanwhile is seen with
 * the count from before: an answer that was never right.  So `resizes` is read around them, as
 * in a seqlock.  Acquire order, for each load: it must not come after the next one.
 */
static inline bool fs_plainly_too_few(struct fs_sem *s, int64_t n)
{
    unsigned resizes = atomic_load_explicit(&s->resizes, memory_order_acquire);
    int64_t word = atomic_load_explicit(&s->word, memory_order_acquire);

    return (word & FS_SLOW) == 0 && word < 2 * n
           && n <= atomic_load_explicit(&s->limit, memory_order_acquire) && resizes % 2 == 0
           && atomic_load_explicit(&s->resizes, memory_order_relaxed) == resizes;
}

/*
 * Are there too few right now?  Also while SLOW is set: a release under way has not happened
 * yet, and one that has returned has changed the word.  So it takes no section to refuse a try, if
 * the semaphore is neither closed nor paused.  Relaxed: whoever takes nothing is given nothing.
 */
static inline bool fs_too_few_now(struct fs_sem *s, int64_t n)
{
    return fs_word_available(atomic_load_explicit(&s->word, memory_order_relaxed)) < n;
}

/*
 * Release order: what we wrote before is for the thread that takes these units.  Acquire order:
 * a waiter that has left must not seem to wait still.  (A thread releases, finds nobody in
 * the queue, and then claims a ticket that has been returned meanwhile: it is not "still waiting",
 * or this release would have granted it.)  The compare-and-swap is the last touch: from then on
 * *s may be gone.
 */
static inline bool fs_release_fast(struct fs_sem *s, int64_t n)
{
    int64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
    int64_t most = 2 * (atomic_load_explicit(&s->limit, memory_order_relaxed) - n);

    while ((word & FS_SLOW) == 0 && word <= most) {
        if (atomic_compare_exchange_weak_explicit(&s->word, &word, word + 2 * n,
                                                  memory_order_acq_rel, memory_order_relaxed))
            return true;
    }
    return false;
}

#endif
