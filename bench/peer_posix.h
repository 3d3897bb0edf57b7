/* SPDX-License-Identifier: MIT */
/* peer_posix.h - the machine's own sem_t as a peer of the benchmarks. */
#ifndef BENCH_PEER_POSIX_H
#define BENCH_PEER_POSIX_H

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "sem_ops.h"

#include <errno.h>
#include <semaphore.h>

static inline int posix_peer_init(void *sem, int64_t units)
{
    return sem_init(sem, 0, (unsigned)units) == 0 ? 0 : errno;
}

static inline int posix_peer_acquire(void *sem)
{
    RETURN_IF_DONE(sem_wait(sem));
}

static inline int posix_peer_release(void *sem)
{
    return sem_post(sem) == 0 ? 0 : errno;
}

static inline int posix_peer_try(void *sem)
{
    return sem_trywait(sem) == 0 ? 0 : errno;
}

/* sem_clockwait() is new in POSIX 2024.  If the C library does not declare it, this peer has no acquire_for. */
#if defined(HAVE_SEM_CLOCKWAIT) && defined(_GNU_SOURCE)
static inline int posix_peer_for(void *sem, int64_t ns, const struct timespec *at)
{
    (void)ns;
    RETURN_IF_DONE(sem_clockwait(sem, CLOCK_MONOTONIC, at));
}
#else
#define posix_peer_for NULL
#endif

static inline int posix_peer_destroy(void *sem)
{
    return sem_destroy(sem) == 0 ? 0 : errno;
}

SEM_OPS(posix, "sem_t", sizeof(sem_t), .try_acquire = posix_peer_try,
        .acquire_for = posix_peer_for);

#endif /* BENCH_PEER_POSIX_H */
