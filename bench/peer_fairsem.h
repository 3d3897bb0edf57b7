/* SPDX-License-Identifier: MIT */
/* peer_fairsem.h - fairsem as a peer of the benchmarks: as it is, with a bypass, without spinning. */
#ifndef BENCH_PEER_FAIRSEM_H
#define BENCH_PEER_FAIRSEM_H

#include "sem_ops.h"

#include <fairsem.h>

#define FAIRSEM_PEER(peer, title, attr)                                     \
    static inline int peer##_peer_init(void *sem, int64_t units)            \
    {                                                                       \
        return fairsem_init(sem, units, attr);                              \
    }                                                                       \
    static inline int peer##_peer_acquire(void *sem)                        \
    {                                                                       \
        return fairsem_acquire(sem, 1);                                     \
    }                                                                       \
    static inline int peer##_peer_release(void *sem)                        \
    {                                                                       \
        return fairsem_release(sem, 1);                                     \
    }                                                                       \
    static inline int peer##_peer_try(void *sem)                            \
    {                                                                       \
        return fairsem_tryacquire(sem, 1);                                  \
    }                                                                       \
    static inline int peer##_peer_for(void *sem, int64_t ns,                \
                                      const struct timespec *at)            \
    {                                                                       \
        (void)at;                                                           \
        return fairsem_acquire_for(sem, 1, ns);                             \
    }                                                                       \
    static inline int peer##_peer_destroy(void *sem)                        \
    {                                                                       \
        return fairsem_destroy(sem);                                        \
    }                                                                       \
    SEM_OPS(peer, title, sizeof(fairsem_t), .try_acquire = peer##_peer_try, \
            .acquire_for = peer##_peer_for)

FAIRSEM_PEER(fairsem, "fairsem", NULL);

/* The longest time for which other threads may overtake the front of the queue. */
#define BYPASS_NS INT64_C(10000000)
FAIRSEM_PEER(bounded, "fairsem bounded",
             (&(fairsem_attr_t){ .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = BYPASS_NS }));

/* Waiters go to sleep at once. */
FAIRSEM_PEER(parking, "fairsem no spin", (&(fairsem_attr_t){ .flags = FAIRSEM_NO_SPIN }));

#endif /* BENCH_PEER_FAIRSEM_H */
