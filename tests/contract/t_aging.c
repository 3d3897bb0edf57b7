/* SPDX-License-Identifier: MIT */
/*
 * t_aging.c - attr.aging_ns: an aged request takes precedence over all others, whatever their
 * priorities; aged requests are granted in order of arrival.
 *
 * Most cases are in tests/scenarios/.  With aging_ns = 1 a request is aged at once.
 */
#include "askers.h"
#include "suite.h"

#include <limits.h>
#include <string.h>
#include <time.h>

#define HOUR_NS (INT64_C(3600) * 1000000000)
#define MS_NS   INT64_C(1000000)

static void init(fairsem_t *sem, int64_t units, int64_t capacity, int64_t aging_ns)
{
    const fairsem_attr_t attr = { .capacity = capacity, .aging_ns = aging_ns };

    ck_assert_int_eq(fairsem_init(sem, units, &attr), 0);
}

static void queue_ticket(fairsem_ticket_t *ticket, fairsem_t *sem, int64_t n, int priority)
{
    ck_assert_int_eq(fairsem_ticket_take(ticket, sem, n, priority, NULL, NULL), EINPROGRESS);
}

static void let_pass(int64_t ns)
{
    struct timespec rest = { .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };

    while (nanosleep(&rest, &rest) != 0)
        continue;
}

/*
 * The ticket at the front wants more units than are free.  When the thread behind the ticket is aged, the
 * thread takes the free units, although no other call is made on the semaphore.
 */
START_TEST(a_thread_that_ages_takes_the_free_units)
{
    fairsem_t sem;
    fairsem_ticket_t head = { { 0 } };
    const fairsem_wait_t worse[] = {
        { .priority = 1 },
        { .priority = 1, .timeout_ns = HOUR_NS },
        { .priority = 1, .clock = CLOCK_REALTIME,
          .deadline = &(const struct timespec){ .tv_sec = INT32_MAX } },
    };

    init(&sem, 3, 4, 20 * MS_NS);
    queue_ticket(&head, &sem, 4, 0);
    for (size_t i = 0; i < sizeof worse / sizeof worse[0]; i++) {
        fairsem_stat_t stat;

        /* Enqueue the ticket again, later than the thread, so that the thread ages first. */
        ck_assert_int_eq(fairsem_ticket_return(&head), 0);
        ck_assert_int_eq(fairsem_consume(&sem, 3), 0);
        {
            struct asker asker = { .how = worse[i] };

            asker_queue(&asker, &sem, 2, 1);
            queue_ticket(&head, &sem, 4, 0);
            ck_assert_int_eq(fairsem_release(&sem, 3), 0);
            ck_assert_int_eq(worker_join(&asker.w), 0);
        }
        ck_assert(fairsem_ticket_state(&head) == FAIRSEM_TICKET_WAITING);
        ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
        ck_assert_int_eq(stat.available, 1);
        ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    }
    ck_assert_int_eq(fairsem_ticket_return(&head), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* The timeout uses CLOCK_MONOTONIC, the deadline CLOCK_REALTIME. */
START_TEST(a_deadline_before_aging_ends_the_wait)
{
    fairsem_t sem;
    const struct timespec in_a_moment = from_now(CLOCK_REALTIME, 5);
    const fairsem_wait_t timed[] = {
        { .timeout_ns = 5 * MS_NS },
        { .clock = CLOCK_REALTIME, .deadline = &in_a_moment },
    };

    init(&sem, 0, 0, HOUR_NS);
    for (size_t i = 0; i < sizeof timed / sizeof timed[0]; i++)
        ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &timed[i]), ETIMEDOUT);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(a_dump_shows_the_queue_in_the_order_of_service)
{
    fairsem_t sem;
    fairsem_ticket_t a = { { 0 } }, b = { { 0 } }, c = { { 0 } };
    char text[2000] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    const char *first, *second, *third;

    ck_assert_ptr_nonnull(file);
    init(&sem, 0, 0, 1);
    queue_ticket(&a, &sem, 1, 44);
    queue_ticket(&b, &sem, 1, 33);
    queue_ticket(&c, &sem, 1, 22);
    let_pass(1000);
    ck_assert_int_eq(fairsem_dump(&sem, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    first = strstr(text, "priority 44");
    second = strstr(text, "priority 33");
    third = strstr(text, "priority 22");
    ck_assert(first != NULL && second != NULL && third != NULL);
    ck_assert(first < second && second < third);
    ck_assert_int_eq(fairsem_ticket_return(&a), 0);
    ck_assert_int_eq(fairsem_ticket_return(&b), 0);
    ck_assert_int_eq(fairsem_ticket_return(&c), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* ---- Nobody starves ---- */

static void *ask_again_and_again(void *arg)
{
    fairsem_t *sem = arg;

    while (fairsem_acquire(sem, 1) == 0) {
        let_pass(1000);
        insist(0, fairsem_release(sem, 1));
    }
    return NULL;
}

/*
 * Three threads acquire the only unit again and again, so that one or two of them always wait.  Without aging,
 * the request with the worst priority could starve.
 */
START_TEST(a_stream_of_better_requests_does_not_starve_a_worse_one)
{
    enum { STREAM = 3 };
    fairsem_t sem;
    pthread_t threads[STREAM];
    const fairsem_wait_t worst = { .priority = INT_MAX };

    init(&sem, 1, 1, 2 * MS_NS);
    for (int i = 0; i < STREAM; i++)
        start_thread(&threads[i], ask_again_and_again, &sem);
    await_waiters(&sem, STREAM - 1);
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &worst), 0);
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    }
    ck_assert_int_eq(fairsem_close(&sem, 0), 0);
    for (int i = 0; i < STREAM; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("aging", a_thread_that_ages_takes_the_free_units, a_deadline_before_aging_ends_the_wait,
              a_dump_shows_the_queue_in_the_order_of_service,
              a_stream_of_better_requests_does_not_starve_a_worse_one);
}
