/* SPDX-License-Identifier: MIT */
/* futex_ring.h - threads in a ring that hand a token on through bare futexes. */
#ifndef BENCH_FUTEX_RING_H
#define BENCH_FUTEX_RING_H

#include "sem_ops.h"

enum { FUTEX_RING_MAX_THREADS = 64 };

/*
 * The table of the ring, as if it were a semaphore with as many units as it has tokens, at
 * most one for each thread; NULL where there are no futexes.
 */
const struct sem_ops *futex_ring_ops(void);

#endif /* BENCH_FUTEX_RING_H */
