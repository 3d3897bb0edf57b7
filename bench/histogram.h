/* SPDX-License-Identifier: MIT */
/* histogram.h - how often something took how long: durations in buckets of equal ratio. */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_SHIFT = 4,
    HISTOGRAM_STEPS = 1 << HISTOGRAM_SHIFT,    /* buckets for each doubling: 6 % wide at most */
    HISTOGRAM_BUCKETS = 40 * HISTOGRAM_STEPS, /* up to some 2,000 seconds */
};

struct histogram {
    long count[HISTOGRAM_BUCKETS];
    long all;
};

/* ns: 0 or more. */
void histogram_add(struct histogram *h, int64_t ns);
void histogram_add_all(struct histogram *to, const struct histogram *from);

/* The durations in a bucket are below this. */
double histogram_end(int bucket);

/* What a share p (0 .. 1) of the durations does not exceed, to a bucket; NaN if there are none. */
double histogram_quantile(const struct histogram *h, double p);

#endif /* BENCH_HISTOGRAM_H */
