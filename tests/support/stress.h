/* SPDX-License-Identifier: MIT */
/*
 * stress.h - random numbers and the running time of a stress test: FAIRSEM_STRESS_SECONDS, by
 * default 1.
 */
#ifndef STRESS_H
#define STRESS_H

#include "workers.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static inline struct timespec stress_end(void)
{
    const char *setting = getenv("FAIRSEM_STRESS_SECONDS");
    long seconds = setting != NULL ? strtol(setting, NULL, 10) : 1;

    return from_now(CLOCK_MONOTONIC, seconds * 1000);
}

static inline bool stress_is_over(const struct timespec *end)
{
    struct timespec now = from_now(CLOCK_MONOTONIC, 0);

    return now.tv_sec > end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec >= end->tv_nsec);
}

#endif
