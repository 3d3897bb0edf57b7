/* SPDX-License-Identifier: MIT */
/* futex_ring.h - a ring of threads; each passes its unit to the next through a bare futex. */
#ifndef BENCH_FUTEX_RING_H
#define BENCH_FUTEX_RING_H

#include "sem_ops.h"

enum { FUTEX_RING_MAX_THREADS = 64 };

/*
 * The table of the ring, as if it were a semaphore, with at most one unit for each thread; NULL
 * where there are no futexes.
 */
const struct sem_ops *futex_ring_ops(void);

#endif /* BENCH_FUTEX_RING_H */
