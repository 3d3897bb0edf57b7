/* SPDX-License-Identifier: MIT */
/* t_shared_set_units.c - the number of units changes while units are held and requests wait. */
#include "crowd.h"

static fairsem_shared_stat_t look(fairsem_shared_t *h)
{
    fairsem_shared_stat_t stat;

    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    return stat;
}

START_TEST(invalid_numbers_are_refused_and_change_nothing)
{
    fairsem_shared_t *h = make_segment(2, 0), *no_undo = make_segment(2, FAIRSEM_SHARED_NO_UNDO);

    ck_assert_int_eq(fairsem_shared_set_units(h, -1), EINVAL);
    ck_assert_int_eq(fairsem_shared_set_units(h, FAIRSEM_MAX_UNITS + 1), EINVAL);
    ck_assert_int_eq(fairsem_shared_set_units(no_undo, 3), EINVAL);
    ck_assert_int_eq(fairsem_shared_available(h), 2);
    ck_assert_int_eq(fairsem_shared_available(no_undo), 2);
    ck_assert_int_eq(fairsem_shared_close(no_undo), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(each_number_can_be_set)
{
    const int64_t numbers[] = { FAIRSEM_MAX_UNITS, 0, 3, FAIRSEM_MAX_UNITS, 1, 2 };
    fairsem_shared_t *h = make_segment(2, 0);
    fairsem_shared_stat_t stat;

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        ck_assert_int_eq(fairsem_shared_set_units(h, numbers[i]), 0);
        stat = look(h);
        ck_assert(stat.available == numbers[i] && stat.capacity == numbers[i]);
        ck_assert(stat.initial_units == 2 && stat.held == 0);
        ck_assert_int_eq(fairsem_shared_tryacquire(h, numbers[i]), 0);
        ck_assert_int_eq(fairsem_shared_available(h), 0);
        ck_assert_int_eq(fairsem_shared_release(h, numbers[i]), 0);
    }
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* With six units the second request would fit, but must wait because the first one does not. */
START_TEST(more_units_are_granted_in_order)
{
    _Atomic int *place = share(4 * sizeof *place);
    fairsem_shared_t *h = make_segment(1, 0);
    pid_t waiter[3];

    ck_assert_int_eq(fairsem_shared_set_units(h, 4), 0);
    ck_assert_int_eq(fairsem_shared_acquire(h, 4), 0);
    waiter[0] = queue_placed(h, 3, 0, &place[1], &place[0]);
    waiter[1] = queue_placed(h, 1, 0, &place[2], &place[0]);
    ck_assert_int_eq(fairsem_shared_set_units(h, 6), 0);
    ck_assert_int_eq(fairsem_shared_waiters(h), 2);
    ck_assert_int_eq(fairsem_shared_set_units(h, 7), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(status_of(waiter[i]), 0);
        ck_assert_int_eq(atomic_load(&place[i + 1]), i + 1);
    }
    /* One change grants as many requests as fit. */
    for (int i = 0; i < 3; i++)
        waiter[i] = queue_user(h, 4);
    ck_assert_int_eq(fairsem_shared_set_units(h, 16), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(status_of(waiter[i]), 0);
    ck_assert_int_eq(look(h).initial_units, 1);
    ck_assert_int_eq(fairsem_shared_available(h), 12);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

static void check_debt(fairsem_shared_t *h, int64_t available, int64_t held, int64_t waiters)
{
    fairsem_shared_stat_t stat = look(h);

    ck_assert_int_eq(stat.available, available);
    ck_assert_int_eq(stat.held, held);
    ck_assert_int_eq(stat.mine, held);
    ck_assert_int_eq(stat.waiters, waiters);
    ck_assert(stat.capacity == 1 && stat.initial_units == 4);
    ck_assert_int_eq(fairsem_shared_available(h), available < 0 ? 0 : available);
}

START_TEST(a_smaller_number_leaves_a_debt_that_releases_pay_before_any_grant)
{
    fairsem_shared_t *h = make_segment(4, 0);
    pid_t waiter;

    ck_assert_int_eq(fairsem_shared_acquire(h, 3), 0);
    ck_assert_int_eq(fairsem_shared_set_units(h, 1), 0);
    check_debt(h, -2, 3, 0);
    ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);
    ck_assert_int_eq(fairsem_shared_tryacquire(h, 2), E2BIG);
    ck_assert_int_eq(fairsem_shared_acquire(h, 2), E2BIG);
    ck_assert_int_eq(wait_and_time_out(h, 1), ETIMEDOUT);
    waiter = queue_user(h, 1);
    for (int64_t held = 3; held > 1; held--) {
        check_debt(h, 1 - held, held, 1);
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    }
    check_debt(h, 0, 1, 1);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(status_of(waiter), 0);
    check_debt(h, 1, 0, 0);
    ck_assert_int_eq(fairsem_shared_release(h, 1), EPERM);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(requests_for_more_units_than_exist_stay_in_the_queue)
{
    _Atomic int *place = share(3 * sizeof *place);
    fairsem_shared_t *h = make_segment(4, 0);
    pid_t first, second;

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    first = queue_placed(h, 4, 0, &place[1], &place[0]);
    ck_assert_int_eq(fairsem_shared_set_units(h, 2), 0);
    ck_assert_int_eq(fairsem_shared_tryacquire(h, 3), E2BIG);
    ck_assert_int_eq(fairsem_shared_acquire(h, 4), E2BIG);
    second = queue_placed(h, 2, 0, &place[2], &place[0]);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 2);
    ck_assert_int_eq(fairsem_shared_waiters(h), 2);
    ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);      /* it would overtake the waiters */
    ck_assert_int_eq(fairsem_shared_set_units(h, 4), 0);
    ck_assert_int_eq(status_of(first), 0);
    ck_assert_int_eq(status_of(second), 0);
    ck_assert(atomic_load(&place[1]) == 1 && atomic_load(&place[2]) == 2);
    ck_assert_int_eq(fairsem_shared_available(h), 4);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(requests_wait_for_the_end_of_a_pause)
{
    fairsem_shared_t *h = make_segment(2, 0);
    pid_t first, second;

    ck_assert_int_eq(fairsem_shared_set_units(h, 4), 0);
    ck_assert_int_eq(fairsem_shared_set_units(h, 0), 0);
    ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);
    ck_assert_int_eq(fairsem_shared_acquire_for(h, 4, 1), ETIMEDOUT);
    ck_assert_int_eq(fairsem_shared_acquire(h, 5), E2BIG);      /* there were never 5 units */
    first = queue_user(h, 4);
    second = queue_user(h, 1);
    ck_assert_int_eq(fairsem_shared_set_units(h, 2), 0);
    ck_assert_int_eq(fairsem_shared_waiters(h), 2);
    ck_assert_int_eq(fairsem_shared_set_units(h, 5), 0);
    ck_assert_int_eq(status_of(first), 0);
    ck_assert_int_eq(status_of(second), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* The four units of the dead holder first repay the debt of two. */
START_TEST(a_dead_process_returns_all_units_that_it_held_before_the_total_fell)
{
    fairsem_shared_t *h = make_segment(5, 0);
    fairsem_shared_stat_t stat;
    pid_t holder = fork_holder(h, 4), waiter;

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_set_units(h, 3), 0);
    ck_assert_int_eq(look(h).available, -2);
    waiter = queue_user(h, 2);
    kill_child(holder);
    ck_assert_int_eq(status_of(waiter), 0);
    stat = look(h);
    ck_assert(stat.available == 2 && stat.held == 1 && stat.mine == 1);
    ck_assert_int_eq(stat.returned, 4);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared, set units", invalid_numbers_are_refused_and_change_nothing,
              each_number_can_be_set, more_units_are_granted_in_order,
              a_smaller_number_leaves_a_debt_that_releases_pay_before_any_grant,
              requests_for_more_units_than_exist_stay_in_the_queue, requests_wait_for_the_end_of_a_pause,
              a_dead_process_returns_all_units_that_it_held_before_the_total_fell);
}
