/* SPDX-License-Identifier: MIT */
/*
 * stress.h - random numbers, and the amount of work of a stress test.  The amount does not depend on time; it
 * is multiplied by FAIRSEM_STRESS_TIMES.
 */
#ifndef STRESS_H
#define STRESS_H

#include "workers.h"

#include "seed.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Returns n multiplied by FAIRSEM_STRESS_TIMES. */
static inline int64_t stress_times(int64_t n)
{
    return n * setting("FAIRSEM_STRESS_TIMES", 1, 1);
}

#endif
