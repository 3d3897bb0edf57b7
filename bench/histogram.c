/* SPDX-License-Identifier: MIT */
/*
 * histogram.c - durations in buckets of equal ratio.
 *
 * A wait takes 20 ns or half a second, and one picture must show both.  Each doubling has the
 * same number of buckets, so the error is the same few percent everywhere.  To add a duration
 * takes no memory, because that happens between two measurements.
 */
#include "histogram.h"

#include <math.h>

static int bucket_of(int64_t ns)
{
    int doublings = 0, bucket;

    while (ns >= 2 * HISTOGRAM_STEPS) {
        ns >>= 1;
        doublings++;
    }
    bucket = doublings * HISTOGRAM_STEPS + (int)ns;
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

double histogram_end(int bucket)
{
    int doublings = bucket < 2 * HISTOGRAM_STEPS ? 0 : bucket / HISTOGRAM_STEPS - 1;

    return ldexp(bucket - doublings * HISTOGRAM_STEPS + 1, doublings);
}

void histogram_add(struct histogram *h, int64_t ns)
{
    h->count[bucket_of(ns)]++;
    h->all++;
}

void histogram_add_all(struct histogram *to, const struct histogram *from)
{
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        to->count[i] += from->count[i];
    to->all += from->all;
}

double histogram_quantile(const struct histogram *h, double p)
{
    long seen = 0;

    if (h->all == 0)
        return NAN;
    for (int i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
        seen += h->count[i];
        if ((double)seen >= p * (double)h->all)
            return histogram_end(i);
    }
    return histogram_end(HISTOGRAM_BUCKETS - 1);
}
