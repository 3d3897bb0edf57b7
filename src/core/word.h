/* SPDX-License-Identifier: MIT */
/*
 * word.h - the 64-bit word of a semaphore: the count of available units, and two bits.
 *
 *      bit 0         SLOW   only the holder of the mutex may change the word (I3)
 *      bits 1 to 61  the count, signed: negative after fairsem_consume or a smaller capacity
 *      bit 62        OPEN   only with SLOW and a count that is not negative: any thread may
 *                           change the count; see bypass.h
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
static_assert(FAIRSEM_MAX_UNITS * 2 + FS_SLOW < FS_OPEN, "the count must not reach the bit");
static_assert(sizeof(_Atomic int64_t) == sizeof(int64_t) && ATOMIC_LLONG_LOCK_FREE == 2,
              "the word must be a lock-free 64-bit atomic");

static inline int64_t fs_word_available(int64_t word)
{
    static_assert((-3 >> 1) == -2, "shifts of negative numbers must be arithmetic");
    return (word >= FS_OPEN ? word - FS_OPEN : word) >> 1;
}

/* One comparison for both ends: a negative count is huge as an unsigned one. */
static inline bool fs_count_valid(int64_t n)
{
    return (uint64_t)n <= (uint64_t)FAIRSEM_MAX_UNITS;
}

#endif
