/* SPDX-License-Identifier: MIT */
/*
 * word.h - the 64-bit word of a semaphore: the count of available units, and two marks.
 *
 *      bit 0          CONTENDED  only the holder of the mutex may change the word (I3 in sem.h)
 *      bits 1 to 61   the count, signed: negative after fairsem_consume or a smaller capacity
 *      bit 62         RETURNS    any thread may add to the count: section.c.  Set only with CONTENDED, and
 *                                while the count is not negative
 *
 * A negative count has bit 62 set as well.  So RETURNS is tested by `word >= FS_RETURNS`.
 */
#ifndef FS_WORD_H
#define FS_WORD_H

#include "fairsem.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define FS_CONTENDED INT64_C(1)
#define FS_RETURNS (INT64_C(1) << 62)
static_assert(FAIRSEM_MAX_UNITS * 2 + FS_CONTENDED < FS_RETURNS, "the count must not reach the mark");
static_assert(sizeof(_Atomic int64_t) == sizeof(int64_t) && ATOMIC_LLONG_LOCK_FREE == 2,
              "the word must be a lock-free 64-bit atomic");

static inline int64_t fs_word_available(int64_t word)
{
    static_assert((-3 >> 1) == -2, "shifts of negative numbers must be arithmetic");
    return (word >= FS_RETURNS ? word - FS_RETURNS : word) >> 1;
}

/* marks: 0, FS_CONTENDED, or FS_CONTENDED + FS_RETURNS. */
static inline int64_t fs_word_of(int64_t available, int64_t marks)
{
    return available * 2 + marks;
}

/*
 * Lock the word for the caller, which holds the mutex.  Returns the count.
 *
 * Acquire order: units may have been released without the mutex, and a waiter that is granted them must see
 * what their releaser wrote.  If CONTENDED is set already, a relaxed load is enough: earlier holders of the
 * mutex have acquired all releases.  Only a forked child finds RETURNS set: it was inherited.
 */
static inline int64_t fs_word_lock(_Atomic int64_t *word)
{
    int64_t now = atomic_load_explicit(word, memory_order_relaxed);

    if ((now & FS_CONTENDED) == 0)
        now = atomic_fetch_or_explicit(word, FS_CONTENDED, memory_order_acquire);
    else if (now >= FS_RETURNS)
        now = atomic_fetch_sub_explicit(word, FS_RETURNS, memory_order_acquire);
    return fs_word_available(now);
}

/* One comparison checks both limits: as an unsigned number, a negative n is huge. */
static inline bool fs_count_valid(int64_t n)
{
    return (uint64_t)n <= (uint64_t)FAIRSEM_MAX_UNITS;
}

#endif
