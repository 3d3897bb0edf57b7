/* SPDX-License-Identifier: MIT */
/* arena.h - threads that always want a unit: the contended loop, the same for every peer. */
#ifndef BENCH_ARENA_H
#define BENCH_ARENA_H

#include "sem_ops.h"

enum { ARENA_MAX_THREADS = 64, ARENA_MAX_BUSY = 8 };

struct arena_plan {
    const struct sem_ops *ops;
    int64_t units;      /* of the semaphore; a thread takes one at a time */
    int     threads;
    int64_t hold_ns;    /* for which a thread holds the unit and computes */
    int64_t between_ns; /* from the release until the thread asks again */
    bool    between_asleep;
    int     busy_processes; /* other processes that only compute at the same time */
    int64_t warm_up_ns, duration_ns;
};

struct arena_result {
    double per_second;  /* holds */
    double longest_ns;  /* longest wait: from the end of a hold until the thread has a unit again */
    double least_share; /* grants of the thread with the fewest, divided by the average */
    double cpu_ns;      /* of the whole process, for each hold */
    double passed;      /* overtaken waits, see arena.c; NaN with several units */
};

/* Returns false if the system does not have the semaphore of plan->ops. */
bool arena_run(const struct arena_plan *plan, struct arena_result *result);

#endif /* BENCH_ARENA_H */
