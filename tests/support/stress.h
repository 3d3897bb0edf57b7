/* SPDX-License-Identifier: MIT */
/*
 * stress.h - random numbers, and how much a stress test does: always the same, whatever time that
 * takes, or FAIRSEM_STRESS_TIMES times as much.
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

/* As many as the environment wants of what is done n times by default. */
static inline int64_t stress_times(int64_t n)
{
    return n * setting("FAIRSEM_STRESS_TIMES", 1, 1);
}

#endif
