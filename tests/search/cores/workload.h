/* SPDX-License-Identifier: MIT */
/*
 * workload.h - threads that acquire a unit, hold it, release it and think, again and again.  In an open loop,
 * they do this once for each request that arrives.
 */
#ifndef CORES_WORKLOAD_H
#define CORES_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

/* The load of a cell of a table. */
struct load {
    int     threads, units;
    int64_t hold, think;        /* nanoseconds; a think time is random, from 1/2 to 3/2 of `think` */
    int64_t long_hold;          /* the time of one hold in a thousand; 0 for no long holds */
    int     percent;            /* rate of requests, in % of what the units can serve; 0 for no open loop */
    int64_t length;             /* of the run, in simulated time */
    bool    real_time;          /* the process may have real-time threads */
    uint64_t seed;
};

enum peer { FAIRSEM, NO_SPIN, POSIX, ARRAY, BYPASS, PEERS };
extern const char *const peer_names[PEERS];

struct pace {
    double per_second;          /* holds, in thousands */
    double cpu_us;              /* processor time of a hold */
    double p99_us;              /* 99th percentile of the times from arrival (or acquire) to release */
};

/*
 * Run the load in a process of its own: the library learns, and must not know of other runs.  ARRAY runs with
 * several values of patience_ns.  Its best result counts: the most holds, or in an open loop the smallest 99th
 * percentile.
 */
struct pace measure(const struct load *load, enum peer peer);

#endif
