/* SPDX-License-Identifier: MIT */
/* peer_fairsem.h - fairsem as a peer of the benchmarks. */
#ifndef BENCH_PEER_FAIRSEM_H
#define BENCH_PEER_FAIRSEM_H

#include "sem_ops.h"

#include <fairsem.h>

static inline int fairsem_peer_init(void *sem, int64_t units)
{
    return fairsem_init(sem, units, NULL);
}

static inline int fairsem_peer_acquire(void *sem, int64_t n)
{
    return fairsem_acquire(sem, n);
}

static inline int fairsem_peer_release(void *sem, int64_t n)
{
    return fairsem_release(sem, n);
}

static inline int fairsem_peer_try(void *sem, int64_t n)
{
    return fairsem_tryacquire(sem, n);
}

static inline int fairsem_peer_until(void *sem, int64_t n, const struct timespec *deadline)
{
    return fairsem_acquire_until(sem, n, CLOCK_REALTIME, deadline);
}

static inline int fairsem_peer_for(void *sem, int64_t n, int64_t ns, const struct timespec *at)
{
    (void)at;
    return fairsem_acquire_for(sem, n, ns);
}

static inline int fairsem_peer_destroy(void *sem)
{
    return fairsem_destroy(sem);
}

static const struct sem_ops ops_fairsem = {
    .name = "fairsem",
    .size = sizeof(fairsem_t),
    .many = true,
    .init = fairsem_peer_init,
    .acquire = fairsem_peer_acquire,
    .release = fairsem_peer_release,
    .try_acquire = fairsem_peer_try,
    .acquire_until = fairsem_peer_until,
    .acquire_for = fairsem_peer_for,
    .destroy = fairsem_peer_destroy,
};

#endif /* BENCH_PEER_FAIRSEM_H */
