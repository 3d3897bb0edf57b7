/* SPDX-License-Identifier: MIT */
/* stats.c - order statistics of a handful of numbers. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void stats_sort(double *values, size_t n)
{
    if (n > 1)
        qsort(values, n, sizeof(*values), ascending);
}

double stats_quantile(const double *sorted, size_t n, double p)
{
    double at;
    size_t below;

    if (n == 0)
        return NAN;
    at = p * (double)(n - 1);
    below = (size_t)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double stats_median(const double *values, size_t n)
{
    double sorted[STATS_MOST];

    n = n < STATS_MOST ? n : STATS_MOST;
    memcpy(sorted, values, n * sizeof(*values));
    stats_sort(sorted, n);
    return stats_quantile(sorted, n, 0.5);
}

struct summary stats_summary(double *values, size_t n)
{
    struct summary s;

    stats_sort(values, n);
    s.min = stats_quantile(values, n, 0);
    s.q1 = stats_quantile(values, n, 0.25);
    s.median = stats_quantile(values, n, 0.5);
    s.q3 = stats_quantile(values, n, 0.75);
    s.max = stats_quantile(values, n, 1);
    return s;
}
