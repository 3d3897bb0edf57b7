/* SPDX-License-Identifier: MIT */
/* t_guard.c - guards: units that know their semaphore and are released once. */
#include "suite.h"
#include "workers.h"

#include <errno.h>

static void holds(const fairsem_units_t *units, const fairsem_t *sem, int64_t n)
{
    ck_assert_ptr_eq(units->sem, sem);
    ck_assert_int_eq(units->n, n);
}

static void is_empty(fairsem_units_t *units)
{
    ck_assert_int_eq(units->n, 0);
    ck_assert_int_eq(fairsem_units_release(units), 0);
    ck_assert_int_eq(fairsem_units_forget(units), 0);
    ck_assert_int_eq(units->n, 0);
}

START_TEST(a_guard_holds_what_was_acquired_and_releases_it_once)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(5);
    fairsem_wait_t how = { .priority = 3 };
    fairsem_units_t units = { 0 };

    is_empty(&units);
    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 2, NULL), 0);
    holds(&units, &sem, 2);
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(fairsem_units_release(&units), 0);
    ck_assert_int_eq(fairsem_available(&sem), 5);
    is_empty(&units);
    ck_assert_int_eq(fairsem_available(&sem), 5);

    ck_assert_int_eq(fairsem_units_tryacquire(&units, &sem, 5), 0);
    holds(&units, &sem, 5);
    ck_assert_int_eq(fairsem_units_release(&units), 0);
    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 1, &how), 0);
    holds(&units, &sem, 1);
    ck_assert_int_eq(fairsem_units_release(&units), 0);
    ck_assert_int_eq(fairsem_available(&sem), 5);
}
END_TEST

/* U23 (.NET 123087, OPC Foundation 2415: the clean-up path releases units that were never acquired, and
 * the limit is exceeded for ever).  After each kind of failure the release does nothing. */
START_TEST(after_an_acquire_that_failed_a_release_does_nothing)
{
    fairsem_t sem;
    fairsem_attr_t attr = { .capacity = 4 };
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct timespec past = from_now(CLOCK_MONOTONIC, -1), bad = { .tv_nsec = -1 };
    fairsem_wait_t timed = { .clock = CLOCK_MONOTONIC, .deadline = &past };
    fairsem_wait_t canceled = { .token = &token }, wrong = { .deadline = &bad };
    fairsem_units_t units = { 0 };

    ck_assert_int_eq(fairsem_init(&sem, 1, &attr), 0);
    fairsem_token_cancel(&token, 0);
    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 2, &timed), ETIMEDOUT);
    is_empty(&units);
    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 1, &canceled), ECANCELED);
    is_empty(&units);
    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 1, &wrong), EINVAL);
    is_empty(&units);
    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 5, NULL), E2BIG);
    is_empty(&units);
    ck_assert_int_eq(fairsem_units_tryacquire(&units, &sem, 2), EAGAIN);
    is_empty(&units);
    ck_assert_int_eq(fairsem_units_tryacquire(&units, &sem, -1), EINVAL);
    is_empty(&units);
    fairsem_close(&sem, 0);
    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 1, NULL), ESHUTDOWN);
    is_empty(&units);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U42 (Seastar 1465: units are lost when the variable that holds them is overwritten). */
START_TEST(a_guard_that_holds_units_cannot_be_overwritten)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(9), other = FAIRSEM_INITIALIZER(9);
    fairsem_units_t units = { 0 }, more = { 0 };
    fairsem_ticket_t ticket = { 0 };

    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 2, NULL), 0);
    ck_assert_int_eq(fairsem_units_acquire(&more, &sem, 3, NULL), 0);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), 0);
    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 1, NULL), EBUSY);
    ck_assert_int_eq(fairsem_units_acquire(&units, &other, 1, NULL), EBUSY);
    ck_assert_int_eq(fairsem_units_tryacquire(&units, &sem, 1), EBUSY);
    ck_assert_int_eq(fairsem_units_adopt(&units, &sem, 1), EBUSY);
    ck_assert_int_eq(fairsem_units_split(&more, 1, &units), EBUSY);
    ck_assert_int_eq(fairsem_ticket_claim(&ticket, &units), EBUSY);
    holds(&units, &sem, 2);
    holds(&more, &sem, 3);
    ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(fairsem_available(&other), 9);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_units_release(&units), 0);
    ck_assert_int_eq(fairsem_units_release(&more), 0);
    ck_assert_int_eq(fairsem_available(&sem), 9);
}
END_TEST

START_TEST(units_can_be_split_merged_and_returned_in_parts)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(9), other = FAIRSEM_INITIALIZER(9);
    fairsem_units_t a = { 0 }, b = { 0 }, c = { 0 }, foreign = { 0 };

    ck_assert_int_eq(fairsem_units_acquire(&a, &sem, 7, NULL), 0);
    ck_assert_int_eq(fairsem_units_acquire(&foreign, &other, 1, NULL), 0);
    ck_assert_int_eq(fairsem_units_split(&a, 8, &b), EINVAL);
    ck_assert_int_eq(fairsem_units_split(&a, -1, &b), EINVAL);
    ck_assert_int_eq(fairsem_units_split(&a, 1, &a), EINVAL);
    ck_assert_int_eq(fairsem_units_split(&b, 1, &c), EINVAL);
    is_empty(&b);
    ck_assert_int_eq(fairsem_units_split(&a, 3, &b), 0);
    holds(&a, &sem, 4);
    holds(&b, &sem, 3);

    ck_assert_int_eq(fairsem_units_merge(&a, &a), EINVAL);
    ck_assert_int_eq(fairsem_units_merge(&a, &foreign), EINVAL);
    ck_assert_int_eq(fairsem_units_merge(&foreign, &a), EINVAL);
    holds(&a, &sem, 4);
    holds(&foreign, &other, 1);
    ck_assert_int_eq(fairsem_units_merge(&a, &b), 0);
    holds(&a, &sem, 7);
    is_empty(&b);
    ck_assert_int_eq(fairsem_units_merge(&a, &b), 0);   /* nothing to move */
    holds(&a, &sem, 7);
    ck_assert_int_eq(fairsem_units_merge(&b, &a), 0);   /* into an empty guard: moved */
    holds(&b, &sem, 7);
    is_empty(&a);

    ck_assert_int_eq(fairsem_units_return(&b, 8), EINVAL);
    ck_assert_int_eq(fairsem_units_return(&b, -1), EINVAL);
    ck_assert_int_eq(fairsem_units_return(&a, 1), EINVAL);
    holds(&b, &sem, 7);
    ck_assert_int_eq(fairsem_units_return(&b, 2), 0);
    holds(&b, &sem, 5);
    ck_assert_int_eq(fairsem_available(&sem), 4);
    ck_assert_int_eq(fairsem_units_return(&b, 5), 0);
    is_empty(&b);
    ck_assert_int_eq(fairsem_available(&sem), 9);
    ck_assert_int_eq(fairsem_available(&other), 8);
    ck_assert_int_eq(fairsem_units_acquire(&b, &other, 1, NULL), 0);
    ck_assert_int_eq(fairsem_units_merge(&b, &foreign), 0);
    holds(&b, &other, 2);
}
END_TEST

START_TEST(all_of_a_guard_can_be_moved_and_the_guard_used_again)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(4), other = FAIRSEM_INITIALIZER(1);
    fairsem_units_t from = { 0 }, into = { 0 };

    ck_assert_int_eq(fairsem_units_acquire(&from, &sem, 4, NULL), 0);
    ck_assert_int_eq(fairsem_units_split(&from, 4, &into), 0);
    holds(&into, &sem, 4);
    is_empty(&from);
    ck_assert_int_eq(fairsem_units_tryacquire(&from, &other, 1), 0);
    holds(&from, &other, 1);
    ck_assert_int_eq(fairsem_units_release(&into), 0);
    ck_assert_int_eq(fairsem_units_release(&from), 0);
    ck_assert_int_eq(fairsem_available(&sem), 4);
    ck_assert_int_eq(fairsem_available(&other), 1);
}
END_TEST

START_TEST(units_can_be_adopted_and_forgotten)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(3);
    fairsem_units_t units = { 0 }, most = { 0 };

    ck_assert_int_eq(fairsem_acquire(&sem, 2), 0);
    ck_assert_int_eq(fairsem_units_adopt(&units, &sem, -1), EINVAL);
    ck_assert_int_eq(fairsem_units_adopt(&units, &sem, FAIRSEM_MAX_UNITS + 1), EINVAL);
    is_empty(&units);
    ck_assert_int_eq(fairsem_units_adopt(&units, &sem, 2), 0);
    holds(&units, &sem, 2);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_units_adopt(&most, &sem, FAIRSEM_MAX_UNITS), 0);
    ck_assert_int_eq(fairsem_units_merge(&units, &most), EINVAL);     /* too many together */
    holds(&units, &sem, 2);
    holds(&most, &sem, FAIRSEM_MAX_UNITS);
    ck_assert_int_eq(fairsem_units_forget(&most), FAIRSEM_MAX_UNITS);
    is_empty(&most);
    ck_assert_int_eq(fairsem_units_forget(&units), 2);
    is_empty(&units);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(fairsem_available(&sem), 3);
}
END_TEST

/* U36: the guard has adopted units that were never acquired.  A release that would exceed the capacity changes
 * nothing. */
START_TEST(a_guard_whose_units_cannot_be_released_keeps_them)
{
    fairsem_t sem;
    fairsem_attr_t attr = { .capacity = 3 };
    fairsem_units_t units = { 0 };

    ck_assert_int_eq(fairsem_init(&sem, 2, &attr), 0);
    ck_assert_int_eq(fairsem_units_adopt(&units, &sem, 3), 0);
    ck_assert_int_eq(fairsem_units_release(&units), EOVERFLOW);
    ck_assert_int_eq(fairsem_units_return(&units, 2), EOVERFLOW);
    holds(&units, &sem, 3);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_units_return(&units, 1), 0);
    holds(&units, &sem, 2);
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(fairsem_units_forget(&units), 2);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("guard", a_guard_holds_what_was_acquired_and_releases_it_once,
              after_an_acquire_that_failed_a_release_does_nothing,
              a_guard_that_holds_units_cannot_be_overwritten,
              units_can_be_split_merged_and_returned_in_parts,
              all_of_a_guard_can_be_moved_and_the_guard_used_again,
              units_can_be_adopted_and_forgotten,
              a_guard_whose_units_cannot_be_released_keeps_them);
}
