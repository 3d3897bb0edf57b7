/* SPDX-License-Identifier: MIT */
/* t_units.c - several units at once, bounds, and the limits of counting. */
#include "suite.h"
#include "workers.h"

#include <errno.h>

/* U15 (cats-effect 403, Effect-TS 6638: a waiter that holds a part of its units leaks it).
 * Units that are too few for the head stay free. */
START_TEST(units_are_taken_all_at_once_never_in_parts)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(2);
    struct worker w = { 0 };

    worker_queue(&w, &sem, 3, 1);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    ck_assert_int_eq(fairsem_available(&sem), 3);
}
END_TEST

/* U32 (golang 56026, embassy 2755). */
START_TEST(upto_takes_what_is_free_and_no_more_than_asked)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(10);

    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 4), 4);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 100), 6);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 100), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 0), 0);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, -5), 0);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, INT64_MAX), 1);
}
END_TEST

/* U37 (tokio 2607, 4447: counts of 16, then 32 bits). */
START_TEST(counts_are_64_bits_wide)
{
    const int64_t big = INT64_C(1) << 40;
    fairsem_t sem;
    fairsem_attr_t attr = { .capacity = 2 * big };

    ck_assert_int_eq(fairsem_init(&sem, 2 * big, &attr), 0);
    ck_assert_int_eq(fairsem_capacity(&sem), 2 * big);
    ck_assert_int_eq(fairsem_acquire(&sem, big + 1), 0);
    ck_assert_int_eq(fairsem_available(&sem), big - 1);
    ck_assert_int_eq(fairsem_tryacquire(&sem, big), EAGAIN);
    ck_assert_int_eq(fairsem_release(&sem, big + 1), 0);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 2 * big), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(the_largest_count_works)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(FAIRSEM_MAX_UNITS);

    ck_assert_int_ge(FAIRSEM_MAX_UNITS, INT64_C(1) << 59);
    ck_assert_int_eq(fairsem_available(&sem), FAIRSEM_MAX_UNITS);
    ck_assert_int_eq(fairsem_acquire(&sem, FAIRSEM_MAX_UNITS), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_release(&sem, FAIRSEM_MAX_UNITS), 0);
    ck_assert_int_eq(fairsem_available(&sem), FAIRSEM_MAX_UNITS);
}
END_TEST

/* U35 (asyncband 144: checked after the addition). */
START_TEST(a_release_past_the_largest_count_is_refused_and_changes_nothing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(FAIRSEM_MAX_UNITS - 1);
    struct worker w = { 0 };

    ck_assert_int_eq(fairsem_release(&sem, 2), EOVERFLOW);
    ck_assert_int_eq(fairsem_available(&sem), FAIRSEM_MAX_UNITS - 1);
    ck_assert_int_eq(fairsem_release(&sem, FAIRSEM_MAX_UNITS), EOVERFLOW);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_acquire(&sem, 2), 0);

    worker_queue(&w, &sem, FAIRSEM_MAX_UNITS, 1);
    ck_assert_int_eq(fairsem_release(&sem, 3), EOVERFLOW);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_available(&sem), FAIRSEM_MAX_UNITS - 2);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(worker_join(&w), 0);
}
END_TEST

/* U36 (zephyr 25173: the release is ignored without an error). */
START_TEST(a_release_beyond_the_capacity_is_refused_and_changes_nothing)
{
    fairsem_t sem;
    fairsem_attr_t attr = { .capacity = 3 };

    ck_assert_int_eq(fairsem_init(&sem, 2, &attr), 0);
    ck_assert_int_eq(fairsem_release(&sem, 2), EOVERFLOW);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_release(&sem, 0), 0);
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U26 (golang sync PR 7, zio 11187: it waits for ever, and blocks the queue). */
START_TEST(a_request_above_the_capacity_fails_at_once_and_leaves_the_queue_alone)
{
    fairsem_t sem;
    fairsem_attr_t attr = { .capacity = 2 };
    struct worker w = { 0 };

    ck_assert_int_eq(fairsem_init(&sem, 2, &attr), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 3), E2BIG);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 3), E2BIG);
    ck_assert_int_eq(fairsem_acquire_for(&sem, 3, 1000), E2BIG);
    ck_assert_int_eq(fairsem_acquire_for(&sem, 3, 0), E2BIG);
    ck_assert(!fairsem_would_block(&sem, 3));
    ck_assert_int_eq(fairsem_acquire(&sem, 2), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 5), E2BIG);

    worker_queue(&w, &sem, 2, 1);
    ck_assert_int_eq(fairsem_acquire(&sem, 3), E2BIG);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(worker_join(&w), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U59 (scylla max_queue_length: a refused request left an entry behind). */
START_TEST(a_full_queue_refuses_a_request_that_would_wait)
{
    fairsem_t sem;
    fairsem_attr_t attr = { .max_waiters = 2 };
    struct worker w[2] = { { 0 } };

    ck_assert_int_eq(fairsem_init(&sem, 1, &attr), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    worker_queue(&w[0], &sem, 1, 1);
    worker_queue(&w[1], &sem, 1, 2);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), ENOBUFS);
    ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 1000000), ENOBUFS);
    ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 0), ETIMEDOUT);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
    ck_assert_int_eq(fairsem_waiters(&sem), 2);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(worker_join(&w[0]), 0);
    ck_assert_int_eq(worker_join(&w[1]), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U33 (golang 53940). */
START_TEST(the_capacity_the_free_units_and_the_waiters_can_be_read)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(3);
    struct worker w = { 0 };

    ck_assert_int_eq(fairsem_capacity(&sem), -1);
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert(!fairsem_would_block(&sem, 3));
    ck_assert(fairsem_would_block(&sem, 4));
    ck_assert(!fairsem_would_block(&sem, -1));
    worker_queue(&w, &sem, 4, 1);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert(fairsem_would_block(&sem, 1));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w), 0);
    ck_assert(!fairsem_would_block(&sem, 0));
}
END_TEST

int main(void)
{
    RUN_SUITE("units", units_are_taken_all_at_once_never_in_parts,
              upto_takes_what_is_free_and_no_more_than_asked, counts_are_64_bits_wide,
              the_largest_count_works,
              a_release_past_the_largest_count_is_refused_and_changes_nothing,
              a_release_beyond_the_capacity_is_refused_and_changes_nothing,
              a_request_above_the_capacity_fails_at_once_and_leaves_the_queue_alone,
              a_full_queue_refuses_a_request_that_would_wait,
              the_capacity_the_free_units_and_the_waiters_can_be_read);
}
