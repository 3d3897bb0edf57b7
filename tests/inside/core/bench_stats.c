/* SPDX-License-Identifier: MIT */
/* bench_stats.c - the quantiles that the benchmarks print. */
#include "suite.h"

#include "../../../bench/stats.h"

#include <math.h>

START_TEST(quartiles_lie_between_the_samples)
{
    double values[] = { 4, 1, 3, 2 };

    stats_sort(values, 4);
    ck_assert_double_eq(stats_quantile(values, 4, 0), 1);
    ck_assert_double_eq(stats_quantile(values, 4, 0.25), 1.75);
    ck_assert_double_eq(stats_quantile(values, 4, 0.5), 2.5);
    ck_assert_double_eq(stats_quantile(values, 4, 1), 4);
}
END_TEST

START_TEST(no_samples_have_no_median)
{
    ck_assert(isnan(stats_quantile(NULL, 0, 0.5)));
}
END_TEST

int main(void)
{
    RUN_SUITE("bench_stats", quartiles_lie_between_the_samples, no_samples_have_no_median);
}
