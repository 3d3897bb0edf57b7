/* SPDX-License-Identifier: MIT */
/* clock.h - the one clock of the benchmarks, in nanoseconds. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

static inline int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static inline void sleep_ns(int64_t ns)
{
    struct timespec left = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/*
 * Keep the core busy until ns nanoseconds after start, and return the time.  It reads the clock
 * in a loop in place of work: that takes the same time for every peer, whatever the frequency
 * of the core.
 */
static inline int64_t busy_until(int64_t start, int64_t ns)
{
    int64_t now;

    do
        now = now_ns();
    while (now - start < ns);
    return now;
}

#endif /* BENCH_CLOCK_H */
