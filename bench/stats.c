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

/*
 * The best division of sorted values > 0 into two groups of at least `least`: the number of values
 * in the lower one.  *explained is the part of the variance of their logarithms that is between
 * the groups.
 */
static size_t best_division(const double *sorted, size_t n, size_t least, double *explained)
{
    double sum = 0, squares = 0, low = 0, most = 0;
    size_t best = 0;

    for (size_t i = 0; i < n; i++) {
        sum += log(sorted[i]);
        squares += log(sorted[i]) * log(sorted[i]);
    }
    for (size_t k = 1; k < n; k++) {
        double count = (double)k, rest = (double)(n - k), apart, between;

        low += log(sorted[k - 1]);
        apart = (sum - low) / rest - low / count;
        between = count * rest / (double)n * apart * apart;
        if (k >= least && n - k >= least && between > most) {
            most = between;
            best = k;
        }
    }
    *explained = most / (squares - sum * sum / (double)n);
    return best;
}

/*
 * Two modes: the quartiles are a factor of two apart, and two groups explain more than they do
 * where values are only spread out.  There, two halves explain 75 %.  Outliers are no group, and
 * the outermost tenth of the values at both ends does not count.
 */
static void find_modes(const double *sorted, size_t n, struct summary *s)
{
    const size_t least = 1 + n / 6, outer = n / 10;
    double explained;
    size_t low;

    s->low_mode = s->high_mode = NAN;
    if (n < 4 || !(s->min > 0) || s->q3 <= 2 * s->q1)
        return;
    low = outer + best_division(sorted + outer, n - 2 * outer, least, &explained);
    if (explained < 0.85)
        return;
    s->low_mode = stats_quantile(sorted, low, 0.5);
    s->high_mode = stats_quantile(sorted + low, n - low, 0.5);
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
    find_modes(values, n, &s);
    return s;
}
