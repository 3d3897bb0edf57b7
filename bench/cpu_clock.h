/* SPDX-License-Identifier: MIT */
/* cpu_clock.h - the processor time that the whole process has used, in nanoseconds. */
#ifndef BENCH_CPU_CLOCK_H
#define BENCH_CPU_CLOCK_H

#include "clock.h"

static inline int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

#endif /* BENCH_CPU_CLOCK_H */
