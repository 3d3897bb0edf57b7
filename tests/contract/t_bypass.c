/* SPDX-License-Identifier: MIT */
/*
 * t_bypass.c - FAIRSEM_BOUNDED_BYPASS: which threads may pass a waiter, for how long, and that
 * every waiter is granted in the end.
 */
#include "suite.h"
#include "workers.h"

#include <errno.h>

#define HOUR_NS (INT64_C(3600) * 1000000000)

static void init(fairsem_t *sem, int64_t units, int64_t bypass_ns)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = bypass_ns };

    ck_assert_int_eq(fairsem_init(sem, units, &attr), 0);
}

START_TEST(the_flag_and_the_bound_need_each_other)
{
    fairsem_t sem;
    const fairsem_attr_t refused[] = {
        { .flags = FAIRSEM_BOUNDED_BYPASS },
        { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = -1 },
        { .bypass_ns = 1 },
        { .bypass_ns = -1 },
    };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        ck_assert_int_eq(fairsem_init(&sem, 1, &refused[i]), EINVAL);
}
END_TEST

/* The test repeats until a tryacquire comes before the woken sleeper runs. */
START_TEST(a_running_thread_takes_a_unit_before_a_woken_sleeper)
{
    int passed = 0;

    while (passed == 0) {
        struct worker w = { 0 };
        fairsem_t sem;

        init(&sem, 0, HOUR_NS);
        worker_queue(&w, &sem, 1, 1);
        for (int i = 0; i < 1000; i++)
            moment();      /* the waiter probably falls asleep; the test does not depend on that */
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        if (fairsem_tryacquire(&sem, 1) == 0) {
            passed++;
            ck_assert_int_eq(fairsem_available(&sem), 0);
            ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        }
        ck_assert_int_eq(worker_join(&w), 0);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

/* Within the bound, running threads take the free units although the front waiter wants more than are free. */
START_TEST(a_small_request_passes_a_large_one_that_does_not_fit)
{
    struct worker w = { 0 };
    fairsem_t sem;

    init(&sem, 3, HOUR_NS);
    worker_queue(&w, &sem, 5, 1);
    while (fairsem_tryacquire(&sem, 1) != 0)
        moment();                  /* until the front waiter sleeps */
    ck_assert(!fairsem_would_block(&sem, 2));
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 1), 1);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 4), 1);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_release(&sem, 5), 0);
    ck_assert_int_eq(worker_join(&w), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("bypass", the_flag_and_the_bound_need_each_other,
              a_running_thread_takes_a_unit_before_a_woken_sleeper,
              a_small_request_passes_a_large_one_that_does_not_fit);
}
