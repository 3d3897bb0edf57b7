/* SPDX-License-Identifier: MIT */
/* sem_ops.h - what a benchmark needs from a semaphore: the table that each peer fills in. */
#ifndef BENCH_SEM_OPS_H
#define BENCH_SEM_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * All functions return 0 or an errno value.  A peer is one file with one constant of
 * this type, called ops_<peer>, and one entry in peers.h.
 *
 * The tables are `static const` in headers.  Loops that measure a few nanoseconds take them as a
 * constant argument of an ALWAYS_INLINE function (see uncontended.c).  So an optimizing compiler
 * turns the pointers into direct calls, and the loop itself costs each peer the same.
 */
struct sem_ops {
    const char *name;
    size_t size;
    bool many; /* takes any number of units in one call; else n is 1 */
    bool in_order; /* not fairsem, but also grants in order of arrival */
    int (*init)(void *sem, int64_t units);
    int (*acquire)(void *sem, int64_t n);
    int (*release)(void *sem, int64_t n);
    int (*try_acquire)(void *sem, int64_t n);
    /* The deadline is on CLOCK_REALTIME, the only clock that all peers know.  May be NULL. */
    int (*acquire_until)(void *sem, int64_t n, const struct timespec *deadline);
    /*
     * Wait at most ns nanoseconds.  A peer that has no relative times uses the deadline instead,
     * which is the same time on CLOCK_MONOTONIC: so it need not read a clock.  May be NULL.
     */
    int (*acquire_for)(void *sem, int64_t n, int64_t ns, const struct timespec *deadline);
    int (*destroy)(void *sem);
    /* Only for a ring, whose members must know their place; they call it first.  Else NULL. */
    void (*sit_down)(void *sem, int place, int threads);
};

#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

/*
 * Make a semaphore of that kind on cache lines of its own; NULL if the system has none (on some,
 * sem_init is only a stub that fails).
 */
void *sem_new(const struct sem_ops *ops, int64_t units);
void sem_delete(const struct sem_ops *ops, void *sem);

#endif /* BENCH_SEM_OPS_H */
