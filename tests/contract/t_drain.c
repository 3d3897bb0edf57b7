/* SPDX-License-Identifier: MIT */
/* t_drain.c - fairsem_drain: close, and wait until all units are back. */
#include "askers.h"
#include "suite.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_NS (INT64_C(3600) * 1000000000)

/* An asker that drains instead of acquiring. */
static void *drainer_run(void *arg)
{
    struct asker *a = arg;

    atomic_store(&a->w.result, fairsem_drain(a->w.sem, a->w.units, &a->how));
    return NULL;
}

static void drainer_queue(struct asker *a, fairsem_t *sem, int64_t units, int64_t expected)
{
    asker_start_as(a, sem, units, drainer_run);
    await_waiters(sem, expected);
}

START_TEST(an_unused_semaphore_is_drained_at_once)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(3);

    ck_assert_int_eq(fairsem_drain(&sem, 3, NULL), 0);
    ck_assert_int_eq(fairsem_closed(&sem), ESHUTDOWN);
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), ESHUTDOWN);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), ESHUTDOWN);
    ck_assert_int_eq(fairsem_drain(&sem, 3, NULL), 0);
    ck_assert_int_eq(fairsem_drain(&sem, 0, NULL), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(a_drain_waits_for_the_last_unit)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(3);
    struct asker drainer = { 0 };

    ck_assert_int_eq(fairsem_acquire(&sem, 3), 0);
    drainer_queue(&drainer, &sem, 3, 1);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert(worker_waits(&drainer.w));
    ck_assert_int_eq(fairsem_destroy(&sem), EBUSY);
    /* Two are free, but no request may take them. */
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), ESHUTDOWN);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 2), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), ESHUTDOWN);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&drainer.w), 0);
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* During a pause no unit is free, so a drain waits for what is still in use, whatever n is. */
START_TEST(a_drain_during_a_pause_ends_when_no_unit_is_in_use)
{
    const fairsem_attr_t attr = { .capacity = 3 };
    const fairsem_wait_t past = { .timeout_ns = -1 };
    struct asker all = { 0 }, none = { 0 };
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, 3, &attr), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 2), 0);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 0), 0);
    ck_assert_int_eq(fairsem_drain(&sem, 0, &past), ETIMEDOUT);
    drainer_queue(&all, &sem, 3, 1);
    drainer_queue(&none, &sem, 0, 2);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert(worker_waits(&all.w) && worker_waits(&none.w));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&all.w), 0);
    ck_assert_int_eq(worker_join(&none.w), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_drain(&sem, 3, &past), 0);
    ck_assert_int_eq(fairsem_drain(&sem, 0, NULL), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* The pause ends, and only as many units are free as are not in use. */
START_TEST(a_drain_goes_on_after_a_pause)
{
    const fairsem_attr_t attr = { .capacity = 3 };
    const fairsem_wait_t past = { .timeout_ns = -1 };
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, 3, &attr), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 0), 0);
    ck_assert_int_eq(fairsem_drain(&sem, 2, &past), ETIMEDOUT);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 3), 0);
    ck_assert_int_eq(fairsem_drain(&sem, 3, &past), ETIMEDOUT);
    ck_assert_int_eq(fairsem_drain(&sem, 2, &past), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(waiters_get_the_reason_of_the_close)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(2);
    struct worker large = { 0 }, small = { 0 };
    struct asker drainer = { 0 };
    fairsem_ticket_t ticket = { 0 };

    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    worker_queue(&large, &sem, 2, 1);
    worker_queue(&small, &sem, 1, 2);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), EINPROGRESS);
    drainer_queue(&drainer, &sem, 2, 1);
    ck_assert_int_eq(worker_join(&large), ESHUTDOWN);
    ck_assert_int_eq(worker_join(&small), ESHUTDOWN);
    ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_CLOSED);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert(worker_waits(&drainer.w));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&drainer.w), 0);
    ck_assert_int_eq(fairsem_available(&sem), 2);
}
END_TEST

START_TEST(several_threads_may_drain)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(2);
    struct asker all = { 0 }, again = { 0 }, one = { 0 };

    ck_assert_int_eq(fairsem_close(&sem, EPIPE), 0);
    ck_assert_int_eq(fairsem_consume(&sem, 4), 0);
    drainer_queue(&all, &sem, 2, 1);
    drainer_queue(&again, &sem, 2, 2);
    one.how.priority = 1;
    drainer_queue(&one, &sem, 1, 3);
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    ck_assert(worker_waits(&all.w));
    ck_assert(worker_waits(&one.w));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&all.w), 0);
    ck_assert_int_eq(worker_join(&again.w), 0);
    ck_assert_int_eq(worker_join(&one.w), 0);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_closed(&sem), EPIPE);
}
END_TEST

START_TEST(an_invalid_drain_changes_nothing)
{
    const fairsem_attr_t attr = { .capacity = 2 };
    const struct timespec at = { .tv_nsec = -1 };
    const fairsem_wait_t wrong = { .clock = CLOCK_MONOTONIC, .deadline = &at };
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, 2, &attr), 0);
    ck_assert_int_eq(fairsem_drain(&sem, -1, NULL), EINVAL);
    ck_assert_int_eq(fairsem_drain(&sem, FAIRSEM_MAX_UNITS + 1, NULL), EINVAL);
    ck_assert_int_eq(fairsem_drain(&sem, 1, &wrong), EINVAL);
    ck_assert_int_eq(fairsem_drain(&sem, 3, NULL), E2BIG);
    ck_assert_int_eq(fairsem_closed(&sem), 0);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 2), 0);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(fairsem_drain(&sem, 2, NULL), 0);
}
END_TEST

START_TEST(a_drain_that_ends_early_leaves_the_semaphore_closed)
{
    const fairsem_attr_t attr = { .max_waiters = 1 };
    struct timespec past = from_now(CLOCK_MONOTONIC, -1000);
    const fairsem_wait_t soon = { .timeout_ns = 1000000 };
    const fairsem_wait_t late = { .clock = CLOCK_MONOTONIC, .deadline = &past };
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct asker drainer = { .how = { .token = &token } };
    fairsem_stat_t before, stat;
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    ck_assert_int_eq(fairsem_drain(&sem, 1, &soon), ETIMEDOUT);
    ck_assert_int_eq(fairsem_closed(&sem), ESHUTDOWN);
    fairsem_stat(&sem, &before);    /* no wait, if the time has passed before it came so far */
    ck_assert_int_eq(fairsem_drain(&sem, 1, &late), ETIMEDOUT);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    drainer_queue(&drainer, &sem, 1, 1);
    ck_assert_int_eq(fairsem_drain(&sem, 1, NULL), ENOBUFS);
    /* A time that has passed needs no place in the queue, and is no wait. */
    ck_assert_int_eq(fairsem_drain(&sem, 1, &late), ETIMEDOUT);
    fairsem_stat(&sem, &stat);
    ck_assert_int_eq(stat.refused, 1);
    ck_assert_int_eq(stat.waits - before.waits, 1);
    ck_assert_int_eq(fairsem_token_cancel(&token, EPIPE), 0);
    ck_assert_int_eq(worker_join(&drainer.w), EPIPE);
    ck_assert_int_eq(fairsem_drain(&sem, 1, &drainer.how), EPIPE);
    drainer.how.timeout_ns = -1;
    ck_assert_int_eq(fairsem_drain(&sem, 1, &drainer.how), EPIPE);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_drain(&sem, 1, &late), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(a_drain_follows_a_change_of_capacity)
{
    const fairsem_attr_t attr = { .capacity = 4 };
    struct asker drainer = { 0 };
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, 4, &attr), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    drainer_queue(&drainer, &sem, 4, 1);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 0), 0);     /* a pause */
    ck_assert(worker_waits(&drainer.w));
    ck_assert_int_eq(fairsem_set_capacity(&sem, 3), 0);
    ck_assert_int_eq(worker_join(&drainer.w), E2BIG);
    drainer_queue(&drainer, &sem, 3, 1);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 4), 0);     /* three are free, one is in use */
    ck_assert_int_eq(worker_join(&drainer.w), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_drain(&sem, 4, NULL), 0);
}
END_TEST

START_TEST(no_thread_passes_a_drain_on_a_semaphore_with_bypass)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = LONG_NS };
    struct asker drainer = { 0 };
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    drainer_queue(&drainer, &sem, 2, 1);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(fairsem_tryacquire(&sem, 1), ESHUTDOWN);
        ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 1), 0);
    }
    ck_assert_int_eq(worker_join(&drainer.w), 0);
    ck_assert_int_eq(fairsem_available(&sem), 2);
}
END_TEST

START_TEST(a_canceled_thread_stops_draining)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct asker drainer = { 0 };

    drainer_queue(&drainer, &sem, 1, 1);
    ck_assert_int_eq(pthread_cancel(drainer.w.thread), 0);
    ck_assert_int_eq(worker_join(&drainer.w), STILL_WAITING);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
}
END_TEST

/* When the drain returns, it must see what each thread wrote while it held its unit. */
enum { THREADS = 4, ROUNDS = 100 };
static fairsem_t pool;
static int written[THREADS];        /* not atomic: ThreadSanitizer finds a missing order */

static void *use_pool(void *arg)
{
    int *mine = arg;

    while (fairsem_acquire(&pool, 1) == 0) {
        (*mine)++;
        if (fairsem_release(&pool, 1) != 0)
            break;
    }
    return NULL;
}

START_TEST(a_drain_sees_what_the_holders_wrote)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread[THREADS];
        int sum = 0;

        pool = (fairsem_t)FAIRSEM_INITIALIZER(2);
        for (int i = 0; i < THREADS; i++)
            start_thread(&thread[i], use_pool, &written[i]);
        ck_assert_int_eq(fairsem_drain(&pool, 2, NULL), 0);
        for (int i = 0; i < THREADS; i++)
            sum += written[i];
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
        for (int i = 0; i < THREADS; i++)
            sum -= written[i];
        ck_assert_int_eq(sum, 0);
        ck_assert_int_eq(fairsem_destroy(&pool), 0);
    }
}
END_TEST

START_TEST(a_forked_child_finds_it_closed_and_without_waiters)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct asker drainer = { 0 };
    pid_t child;
    int status;

    if (UNDER_TSAN)
        NOT_HERE("ThreadSanitizer does not support a forked child with threads");
    drainer_queue(&drainer, &sem, 1, 1);
    child = fork();
    if (child == 0) {
        if (fairsem_waiters(&sem) != 0 || fairsem_closed(&sem) != ESHUTDOWN)
            _exit(1);
        if (fairsem_release(&sem, 1) != 0)
            _exit(2);
        _exit(fairsem_drain(&sem, 1, NULL) == 0 && fairsem_destroy(&sem) == 0 ? 0 : 3);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert(worker_waits(&drainer.w));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&drainer.w), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("drain", an_unused_semaphore_is_drained_at_once, a_drain_waits_for_the_last_unit,
              a_drain_during_a_pause_ends_when_no_unit_is_in_use, a_drain_goes_on_after_a_pause,
              waiters_get_the_reason_of_the_close, several_threads_may_drain,
              an_invalid_drain_changes_nothing, a_drain_that_ends_early_leaves_the_semaphore_closed,
              a_drain_follows_a_change_of_capacity,
              no_thread_passes_a_drain_on_a_semaphore_with_bypass, a_canceled_thread_stops_draining,
              a_drain_sees_what_the_holders_wrote,
              a_forked_child_finds_it_closed_and_without_waiters);
}
