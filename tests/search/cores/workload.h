/* SPDX-License-Identifier: MIT */
/*
 * workload.h - threads that acquire a unit, hold it, release it and think, again and again, or in an open loop
 * once for each request that has arrived.
 */
#ifndef CORES_WORKLOAD_H
#define CORES_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

/* The load of a cell of a table. */
struct load {
    int     threads, units;
    int64_t hold, think;        /* nanoseconds; a think time is a half to one and a half of `think` */
    int64_t long_hold;          /* the time of one hold in a thousand, or 0 */
    int     percent;            /* rate of requests, of what the units can serve, or 0 for no open loop */
    int64_t length;             /* of the run, in simulated time */
    bool    real_time;          /* the process may have real-time threads */
    uint64_t seed;
};

enum peer { FAIRSEM, NO_SPIN, POSIX, ARRAY, BYPASS, PEERS };
extern const char *const peer_names[PEERS];

struct pace {
    double per_second;          /* holds, in thousands */
    double cpu_us;              /* processor time of a hold */
    double p99_us;              /* 99th percentile from arrival, or from the call of acquire, to the release */
};

/*
 * Run the load in a process of its own, because the library learns.  ARRAY runs with several values of
 * patience, and the best result counts: the most holds, or in an open loop the least 99th percentile.
 */
struct pace measure(const struct load *load, enum peer peer);

#endif
