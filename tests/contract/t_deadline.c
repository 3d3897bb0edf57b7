/* SPDX-License-Identifier: MIT */
/*
 * t_deadline.c - waits that time out leave the queue, and no unit is lost.
 *
 * The tests assert that no wait times out too early.  They assert no upper bound.
 */
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <limits.h>

static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };

static int passed(clockid_t clock, const struct timespec *deadline)
{
    struct timespec now = from_now(clock, 0);

    return now.tv_sec > deadline->tv_sec
           || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

START_TEST(a_waiter_that_times_out_leaves_the_queue_and_loses_no_unit)
{
    for (int i = 0; i < 2; i++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(1);
        struct timespec deadline = from_now(clocks[i], 30);
        fairsem_wait_t how = { .clock = clocks[i], .deadline = &deadline };

        ck_assert_int_eq(fairsem_acquire_until(&sem, 2, clocks[i], &deadline), ETIMEDOUT);
        ck_assert(passed(clocks[i], &deadline));
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        deadline = from_now(clocks[i], 30);
        ck_assert_int_eq(fairsem_acquire_with(&sem, 2, &how), ETIMEDOUT);
        ck_assert(passed(clocks[i], &deadline));
        deadline = from_now(CLOCK_MONOTONIC, 30);
        ck_assert_int_eq(fairsem_acquire_for(&sem, 2, 30000000), ETIMEDOUT);
        ck_assert(passed(CLOCK_MONOTONIC, &deadline));
        how = (fairsem_wait_t){ .clock = clocks[i], .timeout_ns = 30000000 };
        deadline = from_now(CLOCK_MONOTONIC, 30);
        ck_assert_int_eq(fairsem_acquire_with(&sem, 2, &how), ETIMEDOUT);
        ck_assert(passed(CLOCK_MONOTONIC, &deadline));
        ck_assert_int_eq(fairsem_available(&sem), 1);
        ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

/* U17, U24: as with sem_timedwait. */
START_TEST(a_deadline_in_the_past_takes_units_that_are_free)
{
    for (int i = 0; i < 2; i++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(4);
        struct timespec past = from_now(clocks[i], -5000), dawn = { .tv_sec = 0 };
        struct timespec before = { .tv_sec = -1 };

        ck_assert_int_eq(fairsem_acquire_until(&sem, 1, clocks[i], &past), 0);
        ck_assert_int_eq(fairsem_acquire_until(&sem, 1, clocks[i], &dawn), 0);
        ck_assert_int_eq(fairsem_acquire_until(&sem, 1, clocks[i], &before), 0);
        ck_assert_int_eq(fairsem_acquire_for(&sem, 1, -1), 0);

        ck_assert_int_eq(fairsem_acquire_until(&sem, 1, clocks[i], &past), ETIMEDOUT);
        ck_assert_int_eq(fairsem_acquire_until(&sem, 1, clocks[i], &dawn), ETIMEDOUT);
        ck_assert_int_eq(fairsem_acquire_until(&sem, 1, clocks[i], &before), ETIMEDOUT);
        ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 0), ETIMEDOUT);
        ck_assert_int_eq(fairsem_acquire_for(&sem, 1, INT64_MIN), ETIMEDOUT);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
    }
}
END_TEST

START_TEST(a_bad_clock_or_time_is_refused_even_if_units_are_free)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(4);
    struct timespec good = from_now(CLOCK_MONOTONIC, 1000), bad = good;
    fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .deadline = &bad };

    bad.tv_nsec = -1;
    ck_assert_int_eq(fairsem_acquire_until(&sem, 1, CLOCK_MONOTONIC, &bad), EINVAL);
    bad.tv_nsec = 1000000000;
    ck_assert_int_eq(fairsem_acquire_until(&sem, 1, CLOCK_REALTIME, &bad), EINVAL);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), EINVAL);
    ck_assert_int_eq(fairsem_drain(&sem, 1, &how), EINVAL);
    bad.tv_nsec = 999999999;
    ck_assert_int_eq(fairsem_acquire_until(&sem, 1, CLOCK_MONOTONIC, &bad), 0);

    ck_assert_int_eq(fairsem_acquire_until(&sem, 1, CLOCK_PROCESS_CPUTIME_ID, &good), EINVAL);
    ck_assert_int_eq(fairsem_acquire_until(&sem, 1, (clockid_t)99, NULL), EINVAL);
    how = (fairsem_wait_t){ .clock = (clockid_t)99, .deadline = &good };
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), EINVAL);
    ck_assert_int_eq(fairsem_available(&sem), 3);
}
END_TEST

/* Without a deadline, and with the latest deadline of each clock. */
START_TEST(a_wait_may_last_for_ever)
{
    const struct timespec end = {
        .tv_sec = (time_t)(sizeof(time_t) == 4 ? INT32_MAX : INT64_MAX), .tv_nsec = 999999999
    };
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker w[3] = { { 0 } };

    w[0].clock = CLOCK_MONOTONIC;
    w[1].clock = CLOCK_MONOTONIC;
    w[1].deadline = &end;
    w[2].clock = CLOCK_REALTIME;
    w[2].deadline = &end;
    for (int i = 0; i < 3; i++)
        worker_queue(&w[i], &sem, 1, i + 1);
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(worker_join(&w[i]), 0);
}
END_TEST

static void *acquire_for_ever(void *arg)
{
    static int failed;

    return fairsem_acquire_for(arg, 1, INT64_MAX) == 0 ? NULL : &failed;
}

START_TEST(the_longest_timeout_does_not_overflow)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    pthread_t thread;
    void *failed;

    start_thread(&thread, acquire_for_ever, &sem);
    await_waiters(&sem, 1);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    pthread_join(thread, &failed);
    ck_assert_ptr_null(failed);
}
END_TEST

/* For an acquire and a guard, a fairsem_wait_t can have all three; for a ticket's wait, a time and a token. */
START_TEST(a_relative_time_works_with_a_token_and_a_priority)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    fairsem_ticket_t ticket = { 0 };
    fairsem_units_t units = { 0 };
    struct timespec deadline = from_now(CLOCK_MONOTONIC, 10000);
    fairsem_wait_t how = { .priority = -1, .token = &token, .timeout_ns = 1000000 };
    fairsem_stat_t before, stat;

    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), 0);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), ETIMEDOUT);
    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 1, &how), ETIMEDOUT);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), EINPROGRESS);
    how.priority = 0;
    ck_assert_int_eq(fairsem_ticket_wait(&ticket, &how), ETIMEDOUT);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    how.timeout_ns = INT64_MAX;
    fairsem_token_cancel(&token, 4711);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), 4711);

    /* With a time that has passed, the call takes free units or fails, but is not enqueued. */
    fairsem_stat(&sem, &before);    /* on a busy machine, not all waits above were enqueued */
    how = (fairsem_wait_t){ .timeout_ns = -1 };
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), ETIMEDOUT);
    fairsem_release(&sem, 1);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), 0);
    how.timeout_ns = INT64_MIN;
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), ETIMEDOUT);
    fairsem_stat(&sem, &stat);
    ck_assert_int_eq(stat.waits, before.waits);

    /* A deadline together with a timeout is a usage error. */
    fairsem_release(&sem, 1);
    how = (fairsem_wait_t){ .clock = CLOCK_MONOTONIC, .deadline = &deadline, .timeout_ns = 1 };
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), EINVAL);
    ck_assert_int_eq(fairsem_available(&sem), 1);
}
END_TEST

int main(void)
{
    RUN_SUITE("deadline", a_relative_time_works_with_a_token_and_a_priority,
              a_waiter_that_times_out_leaves_the_queue_and_loses_no_unit,
              a_deadline_in_the_past_takes_units_that_are_free,
              a_bad_clock_or_time_is_refused_even_if_units_are_free, a_wait_may_last_for_ever,
              the_longest_timeout_does_not_overflow);
}
