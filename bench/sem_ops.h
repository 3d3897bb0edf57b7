/* SPDX-License-Identifier: MIT */
/* sem_ops.h - the operations of a semaphore that benchmarks use: a table for each peer. */
#ifndef BENCH_SEM_OPS_H
#define BENCH_SEM_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * All functions return 0 or an errno value.
 *
 * The tables are `static const` in headers.  Loops that measure a few nanoseconds are ALWAYS_INLINE
 * functions that get a table as a constant argument (see loops.h).  So an optimizing compiler turns
 * the pointers into direct calls, and the loop itself costs the same for each peer.
 */
struct sem_ops {
    const char *name;
    size_t size;
    int (*init)(void *sem, int64_t units);
    int (*acquire)(void *sem);
    int (*release)(void *sem);
    int (*try_acquire)(void *sem); /* may be NULL */
    /*
     * Wait at most ns nanoseconds.  `deadline` is the same moment on CLOCK_MONOTONIC: a peer without
     * relative times uses it, and need not read a clock.  The function may be NULL.
     */
    int (*acquire_for)(void *sem, int64_t ns, const struct timespec *deadline);
    int (*destroy)(void *sem);
};

/* Define the table ops_<peer>, with the functions <peer>_peer_init and so on.
 * Further members follow as arguments.
 */
#define SEM_OPS(peer, title, bytes, ...)                    \
    static const struct sem_ops ops_##peer = {              \
        .name = title,                                      \
        .size = bytes,                                      \
        .init = peer##_peer_init,                           \
        .acquire = peer##_peer_acquire,                     \
        .release = peer##_peer_release,                     \
        .destroy = peer##_peer_destroy,                     \
        __VA_ARGS__                                         \
    }

/* Retry a call that a signal may end, as a careful user does. */
#define RETURN_IF_DONE(call)                                \
    while ((call) != 0) {                                   \
        if (errno != EINTR)                                 \
            return errno;                                   \
    }                                                       \
    return 0

#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

/*
 * Make a semaphore on cache lines of its own.  Returns NULL if the system does not have this kind (on some
 * systems sem_init is only a stub that fails).
 */
void *sem_new(const struct sem_ops *ops, int64_t units);
void sem_delete(const struct sem_ops *ops, void *sem);

#endif /* BENCH_SEM_OPS_H */
