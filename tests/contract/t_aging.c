/* SPDX-License-Identifier: MIT */
/*
 * t_aging.c - attr.aging_ns: an old request comes before all that are not old, whatever their
 * priorities; of old ones, the one that came first.
 *
 * A request is old at once where aging_ns is 1, and never where it is an hour.
 */
#include "askers.h"
#include "suite.h"

#include <limits.h>
#include <stdbool.h>
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

static bool is_granted(fairsem_ticket_t *ticket)
{
    return fairsem_ticket_state(ticket) == FAIRSEM_TICKET_GRANTED;
}

/* At least so long. */
static void let_pass(int64_t ns)
{
    struct timespec rest = { .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };

    while (nanosleep(&rest, &rest) != 0)
        continue;
}

/* Tickets of these priorities are granted, unit after unit, in this order.  Returns `aged`. */
static int64_t granted_in_order(int64_t aging_ns, const int priorities[], const int order[],
                                int count)
{
    fairsem_t sem;
    fairsem_ticket_t tickets[8] = { { { 0 } } };
    fairsem_units_t units = { 0 };
    fairsem_stat_t stat;

    init(&sem, 0, 0, aging_ns);
    for (int i = 0; i < count; i++)
        queue_ticket(&tickets[i], &sem, 1, priorities[i]);
    let_pass(1000);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert(is_granted(&tickets[order[i]]));
        ck_assert_int_eq(fairsem_ticket_claim(&tickets[order[i]], &units), 0);
        fairsem_units_forget(&units);
        ck_assert_int_eq(fairsem_waiters(&sem), count - i - 1);
    }
    ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
    ck_assert_int_eq(stat.grants, count);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
    return stat.aged;
}

/* `aged` counts the grants that were made before a better priority, and no others. */
START_TEST(old_requests_are_granted_in_the_order_of_arrival)
{
    static const int arrival[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

    ck_assert_int_eq(granted_in_order(1, (const int[]){ 5, 0, 5, 0, -3 }, arrival, 5), 4);
    ck_assert_int_eq(granted_in_order(1, (const int[]){ 0, 1, 2, 3, 4, 5, 6, 7 }, arrival, 8), 0);
    ck_assert_int_eq(granted_in_order(1, (const int[]){ 7, 6, 5, 4, 3, 2, 1, 0 }, arrival, 8), 7);
    ck_assert_int_eq(granted_in_order(1, (const int[]){ INT_MAX, INT_MIN, 0 }, arrival, 3), 1);
    ck_assert_int_eq(granted_in_order(1, (const int[]){ 2, 2, 2, 2 }, arrival, 4), 0);
}
END_TEST

START_TEST(requests_that_are_not_old_are_granted_by_priority)
{
    ck_assert_int_eq(granted_in_order(HOUR_NS, (const int[]){ 5, 0, 5, 0, -3 },
                                      (const int[]){ 4, 1, 3, 0, 2 }, 5), 0);
    ck_assert_int_eq(granted_in_order(INT64_MAX, (const int[]){ INT_MAX, INT_MIN, 0 },
                                      (const int[]){ 1, 2, 0 }, 3), 0);
}
END_TEST

/* False: the machine was so slow that the younger two may have become old, too. */
static bool two_of_four_are_old(int64_t aging_ns)
{
    fairsem_t sem;
    fairsem_ticket_t worst = { { 0 } }, worse = { { 0 } }, better = { { 0 } }, best = { { 0 } };
    fairsem_ticket_t *const order[] = { &worst, &worse, &best, &better };
    bool in_time = true;
    int64_t begun_ns;

    init(&sem, 0, 0, aging_ns);
    queue_ticket(&worst, &sem, 1, 9);
    queue_ticket(&worse, &sem, 1, 8);
    let_pass(aging_ns);
    begun_ns = now_ns();
    queue_ticket(&better, &sem, 1, 1);
    queue_ticket(&best, &sem, 1, 0);
    for (int i = 0; i < 4 && in_time; i++) {
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        in_time = now_ns() - begun_ns < aging_ns;
        ck_assert(is_granted(order[i]) || !in_time);
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(fairsem_ticket_return(order[i]), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
    return in_time;
}

START_TEST(old_requests_come_first_and_the_others_keep_their_priorities)
{
    int64_t aging_ns = 20 * MS_NS;

    while (!two_of_four_are_old(aging_ns))
        aging_ns *= 2;
}
END_TEST

START_TEST(nobody_takes_units_that_an_old_request_waits_for)
{
    fairsem_t sem;
    fairsem_ticket_t old = { { 0 } };
    const fairsem_wait_t best = { .priority = INT_MIN, .timeout_ns = -1 };

    init(&sem, 1, 4, 1);
    queue_ticket(&old, &sem, 2, INT_MAX);
    let_pass(1000);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &best), ETIMEDOUT);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 1), 0);
    ck_assert(fairsem_would_block(&sem, 1));
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_ticket_return(&old), 0);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &best), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/*
 * The head asks for more than there is.  When the thread behind it is old it fits, and takes what
 * is free, although nothing else happens on the semaphore.
 */
START_TEST(a_thread_that_becomes_old_takes_what_lies_free)
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

        /* The ticket joins anew, so that it is the younger one. */
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

/* A ticket has no thread, but one that waits for it does the same. */
START_TEST(a_ticket_that_is_waited_for_takes_what_lies_free)
{
    fairsem_t sem;
    fairsem_ticket_t head = { { 0 } }, old = { { 0 } };

    init(&sem, 0, 4, 20 * MS_NS);
    queue_ticket(&old, &sem, 2, 1);
    queue_ticket(&head, &sem, 4, 0);
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    ck_assert_int_eq(fairsem_ticket_wait(&old, NULL), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_ticket_return(&head), 0);
    ck_assert_int_eq(fairsem_ticket_return(&old), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(an_old_request_times_out_and_is_canceled_as_others)
{
    fairsem_t sem;
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    fairsem_wait_t timed = { .priority = 3, .timeout_ns = 5 * MS_NS };
    struct asker canceled = { .how = { .priority = 2, .token = &token } };
    fairsem_stat_t stat;

    init(&sem, 0, 0, 1);
    asker_queue(&canceled, &sem, 1, 1);
    do {        /* if its time is over before it joins, as on a busy machine, it is no wait */
        ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &timed), ETIMEDOUT);
        ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
        timed.timeout_ns *= 2;
    } while (stat.timeouts == 0);
    ck_assert_int_eq(fairsem_token_cancel(&token, 7), 0);
    ck_assert_int_eq(worker_join(&canceled.w), 7);
    ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
    ck_assert(stat.timeouts == 1 && stat.cancels == 1 && stat.aged == 0 && stat.waiters == 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* ... and one that is not old yet, by either clock. */
START_TEST(a_deadline_comes_before_the_age)
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

/* A new capacity looks at every request, also at those before the oldest in the order of priority. */
START_TEST(a_smaller_capacity_refuses_young_and_old_alike)
{
    fairsem_t sem;
    fairsem_ticket_t tickets[5] = { { { 0 } } };
    static const int priorities[] = { 4, 2, 0, 3, 1 };
    static const int64_t asked[] = { 5, 2, 6, 7, 1 };

    init(&sem, 8, 8, 1);
    ck_assert_int_eq(fairsem_consume(&sem, 8), 0);
    for (int i = 0; i < 5; i++)
        queue_ticket(&tickets[i], &sem, asked[i], priorities[i]);
    let_pass(1000);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 4), 0);
    for (int i = 0; i < 5; i++)
        ck_assert(fairsem_ticket_state(&tickets[i])
                  == (asked[i] > 4 ? FAIRSEM_TICKET_CANCELED : FAIRSEM_TICKET_WAITING));
    ck_assert_int_eq(fairsem_close(&sem, 0), 0);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(fairsem_ticket_return(&tickets[i]), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
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

/* With three threads that ask for one unit, two of them always wait: without aging, for ever. */
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

/* Running threads may pass the head, whoever that is, until it has waited for bypass_ns. */
START_TEST(with_bounded_bypass_old_requests_come_first_too)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = 1, .aging_ns = 1 };
    struct asker worse = { .how = { .priority = 2 } }, better = { .how = { .priority = 1 } };
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    asker_queue(&worse, &sem, 1, 1);
    asker_queue(&better, &sem, 1, 2);
    let_pass(1000);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&worse.w), 0);
    ck_assert(worker_waits(&better.w));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&better.w), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* Its thread would not look when it becomes old itself, and no figure would count it. */
START_TEST(a_better_request_behind_an_old_one_waits)
{
    fairsem_ticket_t older = { { 0 } };
    fairsem_stat_t stat;
    fairsem_wait_t how = { .priority = -1, .timeout_ns = 1000 };
    fairsem_t sem;

    init(&sem, 1, 0, MS_NS);
    queue_ticket(&older, &sem, 2, 1);
    let_pass(MS_NS);
    /* On a slow machine the time may be over before it has joined. */
    do {
        ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), ETIMEDOUT);
        ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
        how.timeout_ns *= 2;
    } while (stat.waits < 2);
    ck_assert_int_eq(stat.timeouts, 1);
    ck_assert_int_eq(fairsem_ticket_return(&older), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("aging", a_better_request_behind_an_old_one_waits,
              old_requests_are_granted_in_the_order_of_arrival,
              requests_that_are_not_old_are_granted_by_priority,
              old_requests_come_first_and_the_others_keep_their_priorities,
              nobody_takes_units_that_an_old_request_waits_for,
              a_thread_that_becomes_old_takes_what_lies_free,
              a_ticket_that_is_waited_for_takes_what_lies_free,
              an_old_request_times_out_and_is_canceled_as_others, a_deadline_comes_before_the_age,
              a_smaller_capacity_refuses_young_and_old_alike,
              a_dump_shows_the_queue_in_the_order_of_service,
              a_stream_of_better_requests_does_not_starve_a_worse_one,
              with_bounded_bypass_old_requests_come_first_too);
}
