/* SPDX-License-Identifier: MIT */
/*
 * peer_parker.h - fairsem on the parker that is not the default of this build, as a peer.
 *
 * It is the same library, compiled once more under other names: see local.mk.
 */
#ifndef BENCH_PEER_PARKER_H
#define BENCH_PEER_PARKER_H

#include "sem_ops.h"

#include <fairsem.h>

#ifdef FS_FUTEX_BY_DEFAULT
#define OTHER_PARKER_NAME "fairsem cond"
#else
#define OTHER_PARKER_NAME "fairsem futex"
#endif

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

static inline int parker_peer_init(void *sem, int64_t units)
{
    return other_fairsem_init(sem, units, NULL);
}

static inline int parker_peer_acquire(void *sem, int64_t n)
{
    return other_fairsem_acquire(sem, n);
}

static inline int parker_peer_release(void *sem, int64_t n)
{
    return other_fairsem_release(sem, n);
}

static inline int parker_peer_try(void *sem, int64_t n)
{
    return other_fairsem_tryacquire(sem, n);
}

static inline int parker_peer_until(void *sem, int64_t n, const struct timespec *deadline)
{
    return other_fairsem_acquire_until(sem, n, CLOCK_REALTIME, deadline);
}

static inline int parker_peer_for(void *sem, int64_t n, int64_t ns, const struct timespec *at)
{
    (void)at;
    return other_fairsem_acquire_for(sem, n, ns);
}

static inline int parker_peer_destroy(void *sem)
{
    return other_fairsem_destroy(sem);
}

static const struct sem_ops ops_parker = {
    .name = OTHER_PARKER_NAME,
    .size = sizeof(fairsem_t),
    .many = true,
    .init = parker_peer_init,
    .acquire = parker_peer_acquire,
    .release = parker_peer_release,
    .try_acquire = parker_peer_try,
    .acquire_until = parker_peer_until,
    .acquire_for = parker_peer_for,
    .destroy = parker_peer_destroy,
};

#else
#define IF_OTHER_PARKER(X)
#endif

#endif /* BENCH_PEER_PARKER_H */
