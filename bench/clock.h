/* SPDX-License-Identifier: MIT */
/* clock.h - the clocks of the benchmarks, in nanoseconds. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static inline int64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* The processor time that the whole process has used. */
static inline int64_t cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static inline struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
}

static inline void sleep_ns(int64_t ns)
{
    struct timespec left = timespec_of(ns);

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/*
 * Keep the core busy until ns nanoseconds after start, and return the time.  The loop reads the clock
 * in place of work: it takes the same time for every peer, whatever the frequency of the core.
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
