/* SPDX-License-Identifier: MIT */
/* shared_crowd.h - many processes at one semaphore: pollers, long queues, processes that stop. */
#ifndef BENCH_SHARED_CROWD_H
#define BENCH_SHARED_CROWD_H

#include <stdbool.h>

void shared_crowd_run(bool quick);

#endif /* BENCH_SHARED_CROWD_H */
