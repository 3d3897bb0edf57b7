/* SPDX-License-Identifier: MIT */
/*
 * peer_fairsem.h - fairsem as a peer of the benchmarks: as it is, with a bypass, without spinning,
 * and on the parker that is not the default of this build.
 */
#ifndef BENCH_PEER_FAIRSEM_H
#define BENCH_PEER_FAIRSEM_H

#include "sem_ops.h"

#include <fairsem.h>

/* The functions are the library's, with `library` before their names. */
#define FAIRSEM_PEER(peer, title, library, attr)                                               \
    static inline int peer##_peer_init(void *sem, int64_t units)                               \
    {                                                                                          \
        return library##_init(sem, units, attr);                                               \
    }                                                                                          \
    static inline int peer##_peer_acquire(void *sem, int64_t n)                                \
    {                                                                                          \
        return library##_acquire(sem, n);                                                      \
    }                                                                                          \
    static inline int peer##_peer_release(void *sem, int64_t n)                                \
    {                                                                                          \
        return library##_release(sem, n);                                                      \
    }                                                                                          \
    static inline int peer##_peer_try(void *sem, int64_t n)                                    \
    {                                                                                          \
        return library##_tryacquire(sem, n);                                                   \
    }                                                                                          \
    static inline int peer##_peer_until(void *sem, int64_t n, const struct timespec *deadline) \
    {                                                                                          \
        return library##_acquire_until(sem, n, CLOCK_REALTIME, deadline);                      \
    }                                                                                          \
    static inline int peer##_peer_for(void *sem, int64_t n, int64_t ns,                        \
                                      const struct timespec *at)                               \
    {                                                                                          \
        (void)at;                                                                              \
        return library##_acquire_for(sem, n, ns);                                              \
    }                                                                                          \
    static inline int peer##_peer_destroy(void *sem)                                           \
    {                                                                                          \
        return library##_destroy(sem);                                                         \
    }                                                                                          \
    SEM_OPS(peer, title, sizeof(fairsem_t), .many = true, .try_acquire = peer##_peer_try,      \
            .acquire_until = peer##_peer_until, .acquire_for = peer##_peer_for)

FAIRSEM_PEER(fairsem, "fairsem", fairsem, NULL);

/* No thread at the head of the queue is passed for longer than this. */
#define BYPASS_NS INT64_C(10000000)
FAIRSEM_PEER(bounded, "fairsem bounded", fairsem,
             (&(fairsem_attr_t){ .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = BYPASS_NS }));

/* Its waiters go to sleep at once. */
FAIRSEM_PEER(parking, "fairsem no spin", fairsem, (&(fairsem_attr_t){ .flags = FAIRSEM_NO_SPIN }));

#ifdef FS_FUTEX_BY_DEFAULT
#define OTHER_PARKER_NAME "fairsem cond"
#else
#define OTHER_PARKER_NAME "fairsem futex"
#endif

/* It is the same library, compiled once more under other names: see local.mk. */
#ifdef HAVE_OTHER_PARKER
#define IF_OTHER_PARKER(X) X(parker)

int other_fairsem_init(fairsem_t *sem, int64_t units, const fairsem_attr_t *attr);
int other_fairsem_destroy(fairsem_t *sem);
int other_fairsem_acquire(fairsem_t *sem, int64_t n);
int other_fairsem_tryacquire(fairsem_t *sem, int64_t n);
int other_fairsem_acquire_for(fairsem_t *sem, int64_t n, int64_t timeout_ns);
int other_fairsem_acquire_until(fairsem_t *sem, int64_t n, clockid_t clock,
                                const struct timespec *deadline)
    FAIRSEM_TIME64_(other_fairsem_acquire_until);
int other_fairsem_release(fairsem_t *sem, int64_t n);

FAIRSEM_PEER(parker, OTHER_PARKER_NAME, other_fairsem, NULL);
#else
#define IF_OTHER_PARKER(X)
#endif

#endif /* BENCH_PEER_FAIRSEM_H */
