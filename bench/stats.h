/* SPDX-License-Identifier: MIT */
/* stats.h - quantiles of numbers. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stddef.h>

void stats_sort(double *values, size_t n);

/*
 * The p quantile (0 .. 1) of sorted values, interpolated between neighbors; NaN if there are no
 * values.
 */
double stats_quantile(const double *sorted, size_t n, double p);

#endif /* BENCH_STATS_H */
