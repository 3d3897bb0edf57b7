/* SPDX-License-Identifier: MIT */
/* buckets.h - the counters of fairsem_stat_histogram(): by powers of two, in microseconds. */
#ifndef FS_BUCKETS_H
#define FS_BUCKETS_H

#include "fairsem.h"

#include <stdint.h>

/* Returns the index of the counter for a wait of `ns` nanoseconds. */
static inline int fs_wait_bucket(int64_t ns)
{
    int i = 0;

    for (int64_t most_ns = 1000; ns > most_ns && i < FAIRSEM_WAIT_BUCKETS - 1; most_ns *= 2)
        i++;
    return i;
}

#endif
