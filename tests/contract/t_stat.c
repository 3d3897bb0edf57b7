/* SPDX-License-Identifier: MIT */
/* t_stat.c - fairsem_stat: what a semaphore counts and measures. */
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <string.h>

static fairsem_stat_t stat_of(fairsem_t *sem)
{
    fairsem_stat_t stat;

    memset(&stat, 0x5a, sizeof stat);
    ck_assert_int_eq(fairsem_stat(sem, &stat), 0);
    ck_assert_int_eq(stat.waits, stat.waiters + stat.grants + stat.timeouts + stat.cancels);
    ck_assert_int_le(stat.waiters, stat.waiters_max);
    ck_assert_int_le(stat.wait_ns_max, stat.wait_ns_total);
    ck_assert_int_le(stat.waiters_max, stat.waits);
    ck_assert_int_ge(stat.oldest_wait_ns, 0);
    return stat;
}

/* Retry until a queued request times out: on a busy machine the time may pass before the thread is enqueued. */
static void wait_without_success(fairsem_t *sem)
{
    const int64_t before = stat_of(sem).timeouts;

    for (int64_t ns = 1000000; stat_of(sem).timeouts == before; ns *= 2)
        ck_assert_int_eq(fairsem_acquire_for(sem, 1, ns), ETIMEDOUT);
}

/* The other counters are tested in tests/scenarios/. */
START_TEST(a_wait_that_times_out_is_counted)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);

    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(stat_of(&sem).capacity, -1);
    ck_assert_int_eq(stat_of(&sem).wait_ns_total, 0);
    ck_assert_int_eq(stat_of(&sem).oldest_wait_ns, 0);
    wait_without_success(&sem);
    ck_assert_int_eq(stat_of(&sem).timeouts, 1);
    ck_assert_int_eq(stat_of(&sem).oldest_wait_ns, 0);
    ck_assert_int_eq(stat_of(&sem).waiters, 0);
}
END_TEST

/* A wait is at least as long as the time between two readings of the clock during the wait. */
START_TEST(the_time_of_each_wait_is_measured)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker w = { 0 };
    fairsem_ticket_t ticket = { 0 };
    fairsem_stat_t before, after;
    int64_t start, since, seen, oldest;

    start = now_ns();
    worker_queue(&w, &sem, 1, 1);
    since = now_ns();
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), EINPROGRESS);
    before = stat_of(&sem);
    seen = now_ns();
    while (now_ns() < seen + 20000000)
        moment();
    after = stat_of(&sem);
    oldest = after.oldest_wait_ns;
    ck_assert_int_ge(oldest, 20000000);
    ck_assert_int_ge(oldest, before.oldest_wait_ns + 20000000);
    ck_assert_int_le(oldest, now_ns() - start);
    ck_assert_int_eq(after.wait_ns_total, 0);

    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    after = stat_of(&sem);
    ck_assert_int_ge(after.wait_ns_max, oldest);
    ck_assert_int_eq(after.wait_ns_total, after.wait_ns_max);
    ck_assert_int_le(after.wait_ns_max, now_ns() - start);
    ck_assert_int_lt(after.oldest_wait_ns, now_ns() - since);   /* the ticket, which came after `since` */
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    before = after;
    after = stat_of(&sem);
    ck_assert_int_gt(after.wait_ns_total, before.wait_ns_total);
    ck_assert_int_ge(after.wait_ns_max, before.wait_ns_max);
    ck_assert_int_eq(after.oldest_wait_ns, 0);
    ck_assert_int_eq(worker_join(&w), 0);
    wait_without_success(&sem);
    ck_assert_int_gt(stat_of(&sem).wait_ns_total, after.wait_ns_total);
}
END_TEST

/* A waiter with a better priority may come later. */
START_TEST(the_oldest_waiter_may_be_anywhere_in_the_queue)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t oldest = { 0 }, better = { 0 };
    int64_t since;

    ck_assert_int_eq(fairsem_ticket_take(&oldest, &sem, 1, 5, NULL, NULL), EINPROGRESS);
    since = now_ns();
    while (now_ns() < since + 5000000)
        moment();
    ck_assert_int_eq(fairsem_ticket_take(&better, &sem, 1, 0, NULL, NULL), EINPROGRESS);
    ck_assert_int_ge(stat_of(&sem).oldest_wait_ns, 5000000);
    ck_assert_int_eq(fairsem_ticket_return(&oldest), 0);
    ck_assert_int_eq(fairsem_ticket_return(&better), 0);
}
END_TEST

struct pool_user {
    pthread_t    thread;
    fairsem_t   *sem;
    _Atomic int *stop;
};

static void *use_pool(void *arg)
{
    struct pool_user *u = arg;

    for (int i = 0; !atomic_load(u->stop); i++) {
        if (fairsem_acquire_for(u->sem, 1 + i % 2, i % 7 * 10000) == 0)
            fairsem_release(u->sem, 1 + i % 2);
    }
    return NULL;
}

START_TEST(the_numbers_agree_at_every_moment)
{
    enum { USERS = 4 };
    fairsem_t sem = FAIRSEM_INITIALIZER(2);
    struct pool_user u[USERS];
    _Atomic int stop = 0;
    fairsem_stat_t stat = { 0 }, before;

    for (int i = 0; i < USERS; i++) {
        u[i] = (struct pool_user){ .sem = &sem, .stop = &stop };
        start_thread(&u[i].thread, use_pool, &u[i]);
    }
    for (int i = 0; i < 20000 || stat.waits < 100; i++) {
        before = stat;
        ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
        if (stat.waits != stat.waiters + stat.grants + stat.timeouts + stat.cancels
            || stat.waiters < 0 || stat.waiters > USERS || stat.waiters > stat.waiters_max
            || stat.waiting_units < stat.waiters || stat.waiting_units > 2 * stat.waiters
            || stat.available < 0 || stat.available > 2
            || (stat.waiters > 0 && stat.available == 2) || stat.waits < before.waits
            || stat.wait_ns_total < before.wait_ns_total || stat.oldest_wait_ns < 0)
            ck_abort_msg("the numbers do not agree");
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < USERS; i++)
        pthread_join(u[i].thread, NULL);
    stat = stat_of(&sem);
    ck_assert_int_eq(stat.waiters, 0);
    ck_assert_int_eq(stat.cancels, 0);
    ck_assert_int_eq(stat.available, 2);
}
END_TEST

/* Nine times 2^60 overflows an int64_t, and forty times 2^60 overflows a uint64_t twice. */
START_TEST(the_sum_of_waiting_units_does_not_overflow)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t tickets[40] = { 0 };

    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(fairsem_ticket_take(&tickets[i], &sem, FAIRSEM_MAX_UNITS, 0, NULL, NULL),
                         EINPROGRESS);
    ck_assert_int_eq(stat_of(&sem).waiting_units, INT64_MAX);
    for (int i = 39; i >= 8; i--) {
        ck_assert_int_eq(stat_of(&sem).waiting_units, INT64_MAX);
        ck_assert_int_eq(fairsem_ticket_return(&tickets[i]), 0);
    }
    ck_assert_int_eq(fairsem_ticket_return(&tickets[0]), 0);
    ck_assert_int_eq(stat_of(&sem).waiting_units, 7 * FAIRSEM_MAX_UNITS);
    for (int i = 1; i < 8; i++)
        fairsem_ticket_return(&tickets[i]);
}
END_TEST

/* Only wait_ns_max and waiters_max begin again with each interval. */
START_TEST(an_interval_has_its_own_longest_wait)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t tickets[3] = { 0 };
    fairsem_stat_t stat;

    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(fairsem_ticket_take(&tickets[i], &sem, 1, 0, NULL, NULL), EINPROGRESS);
    fairsem_release(&sem, 2);
    ck_assert_int_eq(fairsem_stat_interval(&sem, &stat), 0);
    ck_assert_int_gt(stat.wait_ns_max, 0);
    ck_assert_int_eq(stat.waiters_max, 3);

    ck_assert_int_eq(fairsem_stat_interval(&sem, &stat), 0);
    ck_assert_int_eq(stat.wait_ns_max, 0);
    ck_assert_int_eq(stat.waiters_max, 1);          /* the third still waits */
    ck_assert_int_eq(stat.waits, 3);
    ck_assert_int_eq(stat.grants, 2);
    ck_assert_int_gt(stat.wait_ns_total, 0);

    fairsem_release(&sem, 1);
    ck_assert_int_gt(stat_of(&sem).wait_ns_max, 0); /* fairsem_stat begins no interval */
    ck_assert_int_eq(fairsem_stat_interval(&sem, &stat), 0);
    ck_assert_int_gt(stat.wait_ns_max, 0);
    ck_assert_int_eq(fairsem_stat_interval(&sem, &stat), 0);
    ck_assert_int_eq(stat.waiters_max, 0);
}
END_TEST

/* Another part of the program may call fairsem_stat_interval(). */
START_TEST(the_maxima_of_all_time_outlast_the_intervals)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t tickets[2] = { 0 };
    fairsem_stat_t interval, before, after;

    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(fairsem_ticket_take(&tickets[i], &sem, 1, 0, NULL, NULL), EINPROGRESS);
    fairsem_release(&sem, 2);
    before = stat_of(&sem);
    ck_assert_int_gt(before.wait_ns_max, 0);
    ck_assert_int_eq(before.waiters_max, 2);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(fairsem_stat_interval(&sem, &interval), 0);
    ck_assert_int_eq(interval.wait_ns_max, 0);
    ck_assert_int_eq(interval.waiters_max, 0);
    after = stat_of(&sem);
    ck_assert_int_eq(after.wait_ns_max, before.wait_ns_max);
    ck_assert_int_eq(after.waiters_max, before.waiters_max);
}
END_TEST

static int64_t sum_of(const fairsem_t *sem)
{
    uint64_t counts[FAIRSEM_WAIT_BUCKETS];
    int64_t sum = 0;

    memset(counts, 0x5a, sizeof counts);
    ck_assert_int_eq(fairsem_stat_histogram(sem, counts), 0);
    for (int i = 0; i < FAIRSEM_WAIT_BUCKETS; i++)
        sum += (int64_t)counts[i];
    return sum;
}

/* A wait may end by a grant, a timeout or an error.  A request that is granted at once is not a wait. */
START_TEST(each_wait_that_has_ended_is_in_one_bucket)
{
    const fairsem_attr_t attr = { .capacity = 2 };
    static fairsem_counted_t counted;
    fairsem_t *sem = &counted.sem;
    fairsem_ticket_t tickets[4] = { 0 };
    struct worker w = { 0 };

    memset(&counted, 0x5a, sizeof counted);
    ck_assert_int_eq(fairsem_counted_init(&counted, 2, &attr), 0);
    ck_assert_int_eq(fairsem_acquire(sem, 2), 0);
    ck_assert_int_eq(sum_of(sem), 0);
    wait_without_success(sem);
    ck_assert_int_eq(sum_of(sem), 1);
    worker_queue(&w, sem, 1, 1);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(fairsem_ticket_take(&tickets[i], sem, 1 + i % 2, 0, NULL, NULL), EINPROGRESS);
    ck_assert_int_eq(sum_of(sem), 1);
    ck_assert_int_eq(fairsem_release(sem, 2), 0);               /* granted: the worker, and one ticket */
    ck_assert_int_eq(worker_join(&w), 0);
    ck_assert_int_eq(sum_of(sem), 3);
    ck_assert_int_eq(fairsem_set_capacity(sem, 1), 0);          /* E2BIG for two tickets */
    ck_assert_int_eq(sum_of(sem), 5);
    ck_assert_int_eq(fairsem_close(sem, 0), 0);
    ck_assert_int_eq(sum_of(sem), 6);
    ck_assert_int_eq(stat_of(sem).waits, 6);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(fairsem_ticket_return(&tickets[i]), 0);
    ck_assert_int_eq(fairsem_destroy(sem), 0);
}
END_TEST

/* There is only one wait, so wait_ns_max is its length. */
START_TEST(a_wait_is_in_the_bucket_of_its_length)
{
    for (int64_t ns = 1; ns < 20000000; ns *= 4) {
        uint64_t counts[FAIRSEM_WAIT_BUCKETS];
        fairsem_ticket_t ticket = { 0 };
        fairsem_t *sem;
        int64_t since, most = 1000;
        int i = 0;

        ck_assert_int_eq(fairsem_new(&sem, 0, NULL), 0);
        ck_assert_int_eq(fairsem_ticket_take(&ticket, sem, 1, 0, NULL, NULL), EINPROGRESS);
        since = now_ns();
        while (now_ns() < since + ns)
            moment();
        ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
        while (stat_of(sem).wait_ns_max > most && ++i < FAIRSEM_WAIT_BUCKETS - 1)
            most *= 2;
        ck_assert_int_eq(fairsem_stat_histogram(sem, counts), 0);
        ck_assert_int_eq(counts[i], 1);
        ck_assert_int_eq(sum_of(sem), 1);
        fairsem_free(sem);
    }
}
END_TEST

/* Even in memory that has been a semaphore with counters. */
START_TEST(a_plain_semaphore_has_no_histogram)
{
    fairsem_counted_t counted;
    fairsem_t plain = FAIRSEM_INITIALIZER(1);
    uint64_t counts[FAIRSEM_WAIT_BUCKETS] = { 4711 };

    ck_assert_int_eq(fairsem_stat_histogram(&plain, counts), EINVAL);
    ck_assert_int_eq(fairsem_counted_init(&counted, 1, NULL), 0);
    ck_assert_int_eq(fairsem_destroy(&counted.sem), 0);
    ck_assert_int_eq(fairsem_init(&counted.sem, 1, NULL), 0);
    ck_assert_int_eq(fairsem_stat_histogram(&counted.sem, counts), EINVAL);
    ck_assert_int_eq(counts[0], 4711);
    ck_assert_int_eq(fairsem_destroy(&counted.sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("stat", each_wait_that_has_ended_is_in_one_bucket, a_wait_is_in_the_bucket_of_its_length,
              a_plain_semaphore_has_no_histogram, an_interval_has_its_own_longest_wait,
              the_maxima_of_all_time_outlast_the_intervals, a_wait_that_times_out_is_counted,
              the_time_of_each_wait_is_measured,
              the_oldest_waiter_may_be_anywhere_in_the_queue, the_numbers_agree_at_every_moment,
              the_sum_of_waiting_units_does_not_overflow);
}
