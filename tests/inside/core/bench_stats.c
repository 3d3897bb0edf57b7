/* SPDX-License-Identifier: MIT */
/* bench_stats.c - how the benchmarks sum up their samples: quartiles, one mode or two. */
#include "suite.h"

#include "../../../bench/stats.h"

#include <math.h>

START_TEST(quartiles_lie_between_the_samples)
{
    double values[] = { 4, 1, 3, 2 };
    struct summary s = stats_summary(values, 4);

    ck_assert_double_eq(s.min, 1);
    ck_assert_double_eq(s.q1, 1.75);
    ck_assert_double_eq(s.median, 2.5);
    ck_assert_double_eq(s.q3, 3.25);
    ck_assert_double_eq(s.max, 4);
}
END_TEST

START_TEST(no_samples_have_no_median)
{
    struct summary s = stats_summary(NULL, 0);

    ck_assert(isnan(s.median));
    ck_assert(isnan(s.low_mode));
}
END_TEST

/* A median alone would report 0.4 or 18, whichever group has one sample more. */
START_TEST(two_groups_are_two_modes)
{
    double values[] = { 18, 0.4, 19, 0.3, 0.5, 17, 18.5, 0.4, 0.35, 18 };
    struct summary s = stats_summary(values, 10);

    ck_assert_double_eq(s.low_mode, 0.4);
    ck_assert_double_eq(s.high_mode, 18);
}
END_TEST

/* However far the samples are spread. */
START_TEST(an_even_spread_is_not_two_modes)
{
    double values[16];

    for (int i = 0; i < 16; i++)
        values[i] = pow(1.5, i);
    ck_assert(isnan(stats_summary(values, 16).low_mode));
}
END_TEST

/* One disturbed repetition is an outlier, not a mode, even if the quartiles are far apart. */
START_TEST(an_outlier_is_no_mode)
{
    double close[] = { 5, 5.1, 5.2, 5, 4.9, 5, 400 };
    double far_apart[] = { 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9, 10, 11, 1e6 };

    ck_assert(isnan(stats_summary(close, 7).low_mode));
    ck_assert(isnan(stats_summary(far_apart, 15).low_mode));
}
END_TEST

/* An outlier does not hide that the others fall into two groups. */
START_TEST(two_modes_are_seen_beside_an_outlier)
{
    double values[] = { 3, 3, 3, 3, 3, 3, 3, 90, 90, 90, 90, 90, 90, 90, 1e6 };
    struct summary s = stats_summary(values, 15);

    ck_assert_double_eq(s.low_mode, 3);
    ck_assert_double_eq(s.high_mode, 90);
}
END_TEST

START_TEST(a_sample_of_zero_has_no_logarithm)
{
    double values[] = { 0, 0, 0, 9, 9, 9 };

    ck_assert(isnan(stats_summary(values, 6).low_mode));
}
END_TEST

int main(void)
{
    RUN_SUITE("bench_stats", quartiles_lie_between_the_samples, no_samples_have_no_median,
              two_groups_are_two_modes, an_even_spread_is_not_two_modes, an_outlier_is_no_mode,
              two_modes_are_seen_beside_an_outlier, a_sample_of_zero_has_no_logarithm);
}
