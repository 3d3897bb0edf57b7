/* SPDX-License-Identifier: MIT */
/* stats.h - order statistics of a handful of numbers. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stddef.h>

struct summary {
    double min, q1, median, q3, max; /* NaN if there are no values */
};

void stats_sort(double *values, size_t n);

/*
 * The value that a share p (0 .. 1) of the sorted values does not exceed, interpolated
 * between neighbors; NaN if there are none.
 */
double stats_quantile(const double *sorted, size_t n, double p);

/* The same for p = 0.5 and values that are not sorted, at most STATS_MOST of them. */
enum { STATS_MOST = 64 };
double stats_median(const double *values, size_t n);

/* Sorts the values on the way. */
struct summary stats_summary(double *values, size_t n);

#endif /* BENCH_STATS_H */
