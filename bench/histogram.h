/* SPDX-License-Identifier: MIT */
/* histogram.h - counts of durations, in buckets of equal ratio. */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_SHIFT = 4,
    HISTOGRAM_STEPS = 1 << HISTOGRAM_SHIFT,    /* buckets for each doubling: 6 % wide at most */
    HISTOGRAM_BUCKETS = 40 * HISTOGRAM_STEPS, /* up to about 2,000 s */
};

struct histogram {
    long count[HISTOGRAM_BUCKETS];
    long all;
};

/* Add a duration of ns >= 0 nanoseconds. */
void histogram_add(struct histogram *h, int64_t ns);
void histogram_add_all(struct histogram *to, const struct histogram *from);

/* The upper end of a bucket, in ns: its durations are shorter. */
double histogram_end(int bucket);

/* The p quantile (0 .. 1) of the durations in ns, to a bucket; NaN if there are none. */
double histogram_quantile(const struct histogram *h, double p);

#endif /* BENCH_HISTOGRAM_H */
