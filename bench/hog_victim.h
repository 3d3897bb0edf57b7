/* SPDX-License-Identifier: MIT */
/* hog_victim.h - a hog that always wants the only unit, and a victim that wants it now and then. */
#ifndef BENCH_HOG_VICTIM_H
#define BENCH_HOG_VICTIM_H

#include "sem_ops.h"

#define HOG_HOLD_NS         INT64_C(200000)  /* 0.2 ms */
#define VICTIM_PAUSE_MIN_NS INT64_C(200000)  /* 0.2 ms */
#define VICTIM_PAUSE_MAX_NS INT64_C(1800000) /* 1.8 ms */

struct hog_victim_result {
    double *waits; /* of the victim, in nanoseconds, sorted; see hog_victim_free */
    size_t victim_served;
    double waiting; /* the share of its time that the victim spent waiting, 0 .. 1 */
    long hog_served;
    long passes;       /* number of times that the hog passed the waiting victim; see hog_victim.c */
    long waits_passed; /* number of waits with at least one pass */
    bool pinned;       /* each thread was pinned to a core of its own */
};

/* Called about ten times per second during a run; done: 0 .. 1. */
typedef void hog_victim_tick(void *arg, double done);

/*
 * Run both threads for duration_ns.  tick may be NULL.  Returns 0, ENOSYS if the system does not have
 * this kind of semaphore, ENOMEM or EAGAIN.
 */
int hog_victim_run(const struct sem_ops *ops, int64_t duration_ns, hog_victim_tick *tick,
                   void *arg, struct hog_victim_result *result);

void hog_victim_free(struct hog_victim_result *result);

/* The victim's share of all grants, 0 .. 1. */
double hog_victim_share(const struct hog_victim_result *result);

#endif /* BENCH_HOG_VICTIM_H */
