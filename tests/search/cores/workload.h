/* SPDX-License-Identifier: MIT */
/*
 * workload.h - threads that acquire a unit, hold it, release it and think, all the time; or, in an open loop,
 * for each request that has arrived.
 */
#ifndef CORES_WORKLOAD_H
#define CORES_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

/* What a cell of a table simulates, with the machine. */
struct load {
    int     threads, units;
    int64_t hold, think;        /* nanoseconds; the think time is a half to one and a half of that */
    int64_t long_hold;          /* one hold in a thousand takes so long; 0: none */
    int     percent;            /* of what the units can serve: so many requests arrive; 0: no open loop */
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
 * Run it, in a process of its own, because the library learns.  ARRAY: with the best patience of a few; it
 * has the most holds, or in an open loop the least 99th percentile.
 */
struct pace measure(const struct load *load, enum peer peer);

#endif
