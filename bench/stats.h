/* SPDX-License-Identifier: MIT */
/* stats.h - order statistics of a handful of numbers. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stddef.h>

struct summary {
    double min, q1, median, q3, max; /* NaN if there are no values */
    /*
     * The medians of the lower and the upper group, if the values fall into two and a single
     * number would hide one of them; else NaN.
     */
    double low_mode, high_mode;
};

void stats_sort(double *values, size_t n);

/*
 * The p quantile (0 .. 1) of the sorted values, interpolated between neighbors; NaN if there are
 * no values.
 */
double stats_quantile(const double *sorted, size_t n, double p);

/* The median of values that need not be sorted, at most STATS_MOST of them. */
enum { STATS_MOST = 64 };
double stats_median(const double *values, size_t n);

/* It sorts the values, which are not negative. */
struct summary stats_summary(double *values, size_t n);

#endif /* BENCH_STATS_H */
