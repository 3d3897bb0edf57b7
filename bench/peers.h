/* SPDX-License-Identifier: MIT */
/* peers.h - all peers.  To add one, write its functions, a SEM_OPS and an X(...) below. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "peer_fairsem.h"
#include "peer_posix.h"

/* fairsem first: the others are compared with it. */
#define FOR_EACH_PEER(X) X(fairsem) X(bounded) X(posix)

#define PEER_COUNT_ONE(peer) +1
enum { PEERS = 0 FOR_EACH_PEER(PEER_COUNT_ONE) };

/* The ticket semaphore with a waiting array of array_sem.h; NULL where there are no futexes. */
const struct sem_ops *array_sem_ops(void);

#endif /* BENCH_PEERS_H */
