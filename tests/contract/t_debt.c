/* SPDX-License-Identifier: MIT */
/* t_debt.c - fairsem_consume takes more units than are free; releases repay them first. */
#include "suite.h"
#include "workers.h"

#include <errno.h>

static void init_bounded(fairsem_t *sem, int64_t units, int64_t capacity)
{
    const fairsem_attr_t attr = { .capacity = capacity };

    ck_assert_int_eq(fairsem_init(sem, units, &attr), 0);
}

/* By design, fairsem_consume passes all waiters.  Then the debt is repaid before any request is
 * granted, even a request for 0 units. */
START_TEST(a_debt_is_repaid_before_any_grant)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(2);
    struct worker fence = { 0 }, next = { 0 };

    ck_assert_int_eq(fairsem_consume(&sem, 0), 0);
    ck_assert_int_eq(fairsem_consume(&sem, 1), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_consume(&sem, 4), 0);
    ck_assert_int_eq(fairsem_available(&sem), -3);
    ck_assert(fairsem_would_block(&sem, 0));
    ck_assert_int_eq(fairsem_tryacquire(&sem, 0), EAGAIN);
    ck_assert_int_eq(fairsem_acquire_for(&sem, 0, 0), ETIMEDOUT);
    worker_queue(&fence, &sem, 0, 1);
    worker_queue(&next, &sem, 2, 2);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 2);
    ck_assert_int_eq(fairsem_available(&sem), -1);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(worker_join(&fence), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_consume(&sem, 3), 0);
    ck_assert_int_eq(fairsem_available(&sem), -2);
    ck_assert(worker_waits(&next));
    ck_assert_int_eq(fairsem_release(&sem, 4), 0);
    ck_assert_int_eq(worker_join(&next), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U35: the check comes before the subtraction. */
START_TEST(a_debt_beyond_the_largest_is_refused_and_changes_nothing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1), bounded;

    ck_assert_int_eq(fairsem_consume(&sem, -1), EINVAL);
    ck_assert_int_eq(fairsem_consume(&sem, FAIRSEM_MAX_UNITS + 1), EINVAL);
    ck_assert_int_eq(fairsem_consume(&sem, FAIRSEM_MAX_UNITS), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1 - FAIRSEM_MAX_UNITS);
    ck_assert_int_eq(fairsem_consume(&sem, 2), EOVERFLOW);
    ck_assert_int_eq(fairsem_consume(&sem, FAIRSEM_MAX_UNITS), EOVERFLOW);
    ck_assert_int_eq(fairsem_available(&sem), 1 - FAIRSEM_MAX_UNITS);
    ck_assert_int_eq(fairsem_consume(&sem, 1), 0);
    ck_assert_int_eq(fairsem_consume(&sem, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_consume(&sem, 0), 0);
    ck_assert_int_eq(fairsem_release(&sem, FAIRSEM_MAX_UNITS), 0);
    ck_assert_int_eq(fairsem_release(&sem, FAIRSEM_MAX_UNITS), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_available(&sem), FAIRSEM_MAX_UNITS);

    /* The lowest count there is: the largest debt, and then a capacity of 0. */
    init_bounded(&bounded, 0, FAIRSEM_MAX_UNITS);
    ck_assert_int_eq(fairsem_consume(&bounded, FAIRSEM_MAX_UNITS), 0);
    ck_assert_int_eq(fairsem_set_capacity(&bounded, 0), 0);
    ck_assert_int_eq(fairsem_available(&bounded), -2 * FAIRSEM_MAX_UNITS);
    ck_assert_int_eq(fairsem_consume(&bounded, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_tryacquire(&bounded, 0), EAGAIN);
    ck_assert_int_eq(fairsem_set_capacity(&bounded, FAIRSEM_MAX_UNITS), 0);
    ck_assert_int_eq(fairsem_release(&bounded, FAIRSEM_MAX_UNITS), 0);
    ck_assert_int_eq(fairsem_release(&bounded, FAIRSEM_MAX_UNITS), 0);
    ck_assert_int_eq(fairsem_release(&bounded, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_tryacquire(&bounded, FAIRSEM_MAX_UNITS), 0);
    ck_assert_int_eq(fairsem_destroy(&bounded), 0);
}
END_TEST

/* ---------------------------------------------------------------- against two numbers */

/* Two numbers are the simplest model of a semaphore without waiters.  Every call must agree with
 * it, on the fast path and on the contended one. */
START_TEST(without_waiters_it_behaves_like_two_numbers)
{
    fairsem_t sem;
    int64_t capacity = 5, available = 5;
    uint32_t random = 1;

    init_bounded(&sem, 5, 5);
    for (int i = 0; i < 100000; i++) {
        int64_t n, change, expected;

        random = random * 1664525 + 1013904223;
        n = random >> 12 & 7;
        change = (int64_t)(random >> 18 & 7) - capacity;
        switch (random >> 29) {
        case 0:
            ck_assert_int_eq(fairsem_set_capacity(&sem, capacity + change), 0);
            capacity += change;
            available += change;
            break;
        case 1:
            ck_assert_int_eq(fairsem_consume(&sem, n / 4), 0);
            available -= n / 4;
            break;
        case 2:
            expected = available < 0 ? 0 : available < n ? available : n;
            ck_assert_int_eq(fairsem_tryacquire_upto(&sem, n), expected);
            available -= expected;
            break;
        case 3:
        case 4:
            expected = capacity == 0 ? EAGAIN : n > capacity ? E2BIG : n > available ? EAGAIN : 0;
            ck_assert_int_eq(fairsem_would_block(&sem, n), expected == EAGAIN);
            ck_assert_int_eq(fairsem_tryacquire(&sem, n), expected);
            available -= expected == 0 ? n : 0;
            break;
        default:
            expected = n > capacity - available ? EOVERFLOW : 0;
            ck_assert_int_eq(fairsem_release(&sem, n), expected);
            available += expected == 0 ? n : 0;
        }
        ck_assert_int_eq(fairsem_available(&sem), available);
        ck_assert_int_eq(fairsem_capacity(&sem), capacity);
    }
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("debt", a_debt_is_repaid_before_any_grant,
              a_debt_beyond_the_largest_is_refused_and_changes_nothing,
              without_waiters_it_behaves_like_two_numbers);
}
