/* SPDX-License-Identifier: MIT */
/*
 * word.h - the 64-bit word of a semaphore: the count of available units, and two marks.
 *
 *      bit 0          SLOW     only the holder of the mutex may change the word (I3)
 *      bits 1 to 61   the count, signed: negative after fairsem_consume or a smaller capacity
 *      bit 62         OPEN     only with SLOW and a count that is not negative: any thread may
 *                              change the count; see bypass.h
 *      bits 60 to 62  RETURNS  only with SLOW and a count of 0 to FS_RETURNS_MAX: any thread may add
 *                              to the count; see section.c
 *
 * No word of a semaphore without RETURNS is as large as one with it.
 */
#ifndef FS_WORD_H
#define FS_WORD_H

#include "fairsem.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define FS_SLOW INT64_C(1)
#define FS_OPEN (INT64_C(1) << 62)
#define FS_RETURNS (INT64_C(7) << 60)
#define FS_RETURNS_MAX (INT64_C(1) << 58)
static_assert(FAIRSEM_MAX_UNITS * 2 + FS_SLOW < FS_OPEN, "the count must not reach the bit");
static_assert(FAIRSEM_MAX_UNITS * 2 + FS_SLOW + FS_OPEN < FS_RETURNS, "the marks must be distinct");
static_assert(sizeof(_Atomic int64_t) == sizeof(int64_t) && ATOMIC_LLONG_LOCK_FREE == 2,
              "the word must be a lock-free 64-bit atomic");

static inline int64_t fs_word_available(int64_t word)
{
    static_assert((-3 >> 1) == -2, "shifts of negative numbers must be arithmetic");
    if (word >= FS_OPEN)
        word -= word >= FS_RETURNS ? FS_RETURNS : FS_OPEN;
    return word >> 1;
}

/* mark: 0, FS_OPEN or FS_RETURNS. */
static inline int64_t fs_word_of(int64_t available, bool slow, int64_t mark)
{
    return available * 2 + (slow ? FS_SLOW : 0) + mark;
}

/* May any thread change this word, because of that mark?  0: because SLOW is clear. */
static inline bool fs_word_is_shared(int64_t word, int64_t mark)
{
    if (mark == 0)
        return (word & FS_SLOW) == 0;
    return word >= mark && (mark == FS_RETURNS || word < FS_RETURNS);
}

/*
 * From now on only the holder of the mutex changes the word, and that is the caller: set SLOW, clear
 * the mark.  (RETURNS is left over in a forked child.)  Returns the count.  Acquire order, for units that
 * a thread released without the mutex: a waiter that is granted these units must see what that thread
 * wrote.  The load may be relaxed: if the word is not shared, only holders of the mutex have changed it
 * since one of them has made it so.
 */
static inline int64_t fs_word_take_over(_Atomic int64_t *word)
{
    int64_t now = atomic_load_explicit(word, memory_order_relaxed);

    if (fs_word_is_shared(now, 0))
        now = atomic_fetch_or_explicit(word, FS_SLOW, memory_order_acquire);
    else if (now >= FS_OPEN)
        now = atomic_fetch_sub_explicit(word, now >= FS_RETURNS ? FS_RETURNS : FS_OPEN,
                                        memory_order_acquire);
    return fs_word_available(now);
}

/* One comparison for both ends: a negative count is huge as an unsigned one. */
static inline bool fs_count_valid(int64_t n)
{
    return (uint64_t)n <= (uint64_t)FAIRSEM_MAX_UNITS;
}

#endif
