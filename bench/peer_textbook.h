/* SPDX-License-Identifier: MIT */
/* peer_textbook.h - the textbook FIFO semaphore as a peer of the benchmarks. */
#ifndef BENCH_PEER_TEXTBOOK_H
#define BENCH_PEER_TEXTBOOK_H

#include "sem_ops.h"
#include "textbook_sem.h"

static inline int textbook_peer_init(void *sem, int64_t units)
{
    return textbook_init(sem, units);
}

static inline int textbook_peer_acquire(void *sem, int64_t n)
{
    return textbook_acquire(sem, n);
}

static inline int textbook_peer_release(void *sem, int64_t n)
{
    return textbook_release(sem, n);
}

static inline int textbook_peer_try(void *sem, int64_t n)
{
    return textbook_try(sem, n);
}

static inline int textbook_peer_until(void *sem, int64_t n, const struct timespec *deadline)
{
    return textbook_until(sem, n, deadline);
}

static inline int textbook_peer_destroy(void *sem)
{
    return textbook_destroy(sem);
}

static const struct sem_ops ops_textbook = {
    .name = "textbook FIFO",
    .size = sizeof(struct textbook_sem),
    .many = true,
    .in_order = true,
    .init = textbook_peer_init,
    .acquire = textbook_peer_acquire,
    .release = textbook_peer_release,
    .try_acquire = textbook_peer_try,
    .acquire_until = textbook_peer_until,
    .destroy = textbook_peer_destroy,
};

#endif /* BENCH_PEER_TEXTBOOK_H */
