/* SPDX-License-Identifier: MIT */
/* peers.h - all peers.  To add one, write its functions, a SEM_OPS and an X(...) below. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "peer_fairsem.h"
#include "peer_posix.h"

#include <pthread.h>

/* The FIFO semaphore of the textbooks: the plain way to be fair. */
struct textbook_sem {
    pthread_mutex_t mutex; /* guards everything below */
    int64_t units;
    struct textbook_waiter *head, *tail;
};
int textbook_peer_init(void *sem, int64_t units);
int textbook_peer_acquire(void *sem);
int textbook_peer_release(void *sem);
int textbook_peer_try(void *sem);
int textbook_peer_destroy(void *sem);
SEM_OPS(textbook, "textbook FIFO", sizeof(struct textbook_sem), .try_acquire = textbook_peer_try);

/* fairsem first: the others are compared with it. */
#define FOR_EACH_PEER(X) X(fairsem) X(bounded) X(posix) X(textbook)

#define PEER_COUNT_ONE(peer) +1
enum { PEERS = 0 FOR_EACH_PEER(PEER_COUNT_ONE) };

/*
 * A ring of threads, each of which passes its unit to the next through a bare futex, as if it were
 * a semaphore, with at most one unit for each thread; NULL where there are no futexes.
 */
enum { FUTEX_RING_MAX_THREADS = 64 };
const struct sem_ops *futex_ring_ops(void);

/* The ticket semaphore with a waiting array of array_sem.h; NULL where there are no futexes. */
const struct sem_ops *array_sem_ops(void);

#endif /* BENCH_PEERS_H */
