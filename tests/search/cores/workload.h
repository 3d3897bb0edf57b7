/* SPDX-License-Identifier: MIT */
/* workload.h - threads that acquire a unit, hold it, release it and think, all the time. */
#ifndef CORES_WORKLOAD_H
#define CORES_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

/* What a cell of a table simulates, with the machine. */
struct load {
    int     threads, units;
    int64_t hold, think;        /* nanoseconds; the think time is a half to one and a half of that */
    int64_t long_hold;          /* one hold in a thousand takes so long; 0: none */
    int64_t length;             /* of the run, in simulated time */
    bool    real_time;          /* the process may have real-time threads */
    uint64_t seed;
};

enum peer { FAIRSEM, NO_SPIN, POSIX, ARRAY, PEERS };
extern const char *const peer_names[PEERS];

struct pace {
    double per_second;          /* holds, in thousands */
    double cpu_us;              /* processor time of a hold */
};

/*
 * Run it, in a process of its own, because the library learns.  ARRAY: with the patience that has the most
 * holds, of a few.
 */
struct pace measure(const struct load *load, enum peer peer);

#endif
