/* SPDX-License-Identifier: MIT */
/* stats.c - see stats.h. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

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
