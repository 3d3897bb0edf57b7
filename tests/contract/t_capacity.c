/* SPDX-License-Identifier: MIT */
/*
 * t_capacity.c - the capacity changes while units are in use and requests wait.
 * (U28: golang 29721, tokio 5308, anyio 73, redisson 603: what users ask for most.)
 */
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include <errno.h>

static void init_bounded(fairsem_t *sem, int64_t units, int64_t capacity)
{
    const fairsem_attr_t attr = { .capacity = capacity };

    ck_assert_int_eq(fairsem_init(sem, units, &attr), 0);
}

/* A double release, for instance. */
START_TEST(a_static_semaphore_can_have_a_capacity)
{
    static fairsem_t sem = FAIRSEM_INITIALIZER_BOUNDED(2, 3);
    fairsem_stat_t stat;

    ck_assert_int_eq(fairsem_capacity(&sem), 3);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 4), E2BIG);
    ck_assert_int_eq(fairsem_release(&sem, 2), EOVERFLOW);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 0), 0);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 1), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
    ck_assert_int_eq(stat.capacity, 1);
    ck_assert_int_eq(stat.over_releases, 2);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(units_in_use_stay_in_use_when_the_capacity_changes)
{
    fairsem_t sem;

    init_bounded(&sem, 5, 5);
    ck_assert_int_eq(fairsem_acquire(&sem, 3), 0);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 3), 0);
    ck_assert_int_eq(fairsem_capacity(&sem), 3);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 1), 0);
    ck_assert_int_eq(fairsem_available(&sem), -2);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 0), EAGAIN);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 1), 0);
    ck_assert(fairsem_would_block(&sem, 0));
    ck_assert_int_eq(fairsem_set_capacity(&sem, 3), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), 0);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 10), 0);
    ck_assert_int_eq(fairsem_available(&sem), 7);
    ck_assert_int_eq(fairsem_release(&sem, 4), EOVERFLOW);
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    ck_assert_int_eq(fairsem_available(&sem), 10);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U28: growing grants the requests that fit now, from the head on. */
START_TEST(a_larger_capacity_grants_the_waiters_that_fit)
{
    fairsem_t sem;
    struct worker w[3] = { { 0 } };

    init_bounded(&sem, 0, 3);
    worker_queue(&w[0], &sem, 2, 1);
    worker_queue(&w[1], &sem, 3, 2);
    worker_queue(&w[2], &sem, 1, 3);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 7), 0);     /* in use as before: 3 */
    ck_assert_int_eq(fairsem_waiters(&sem), 2);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(worker_join(&w[0]), 0);
    ck_assert(worker_waits(&w[1]) && worker_waits(&w[2]));
    ck_assert_int_eq(fairsem_set_capacity(&sem, 9), 0);
    ck_assert_int_eq(worker_join(&w[1]), 0);
    ck_assert_int_eq(worker_join(&w[2]), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U28: a request that can never be granted any more fails at once, anywhere in the queue.  A
 * request that still fits must not fail. */
START_TEST(a_smaller_capacity_fails_every_request_for_more)
{
    fairsem_t sem;
    static const int64_t units[] = { 4, 2, 5, 1, 3 };
    static const int expected[] = { E2BIG, 0, E2BIG, 0, E2BIG };
    struct worker w[5] = { { 0 } };

    init_bounded(&sem, 3, 5);
    for (int i = 0; i < 5; i++)
        worker_queue(&w[i], &sem, units[i], i + 1);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 2), 0);     /* in use 2, available 0 */
    ck_assert_int_eq(fairsem_waiters(&sem), 2);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    for (int i = 0; i < 5; i++) {
        if (expected[i] == E2BIG)
            ck_assert_int_eq(worker_join(&w[i]), E2BIG);
    }
    ck_assert(worker_waits(&w[1]) && worker_waits(&w[3]));
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(worker_join(&w[1]), 0);
    ck_assert(worker_waits(&w[3]));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w[3]), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U11: the large head fails, and the next waiter fits already. */
START_TEST(when_a_smaller_capacity_fails_the_head_the_waiters_behind_it_are_granted)
{
    fairsem_t sem;
    struct worker head = { 0 }, fits = { 0 };

    init_bounded(&sem, 5, 6);
    worker_queue(&head, &sem, 6, 1);
    worker_queue(&fits, &sem, 3, 2);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 4), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(worker_join(&head), E2BIG);
    ck_assert_int_eq(worker_join(&fits), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 5), E2BIG);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U29 (anyio PR 1223: the difference was granted although more was in use than allowed). */
START_TEST(growing_while_too_much_is_in_use_grants_nothing)
{
    fairsem_t sem;
    struct worker w = { 0 };

    init_bounded(&sem, 2, 2);
    ck_assert_int_eq(fairsem_acquire(&sem, 2), 0);
    worker_queue(&w, &sem, 1, 1);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 0), 0);
    ck_assert_int_eq(fairsem_available(&sem), -2);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 1), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_available(&sem), -1);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U31 (trio 3321, anyio: 0 taken for "too large").  In a pause every request waits, also for 0
 * units or for more than there ever were; the next capacity decides. */
START_TEST(a_capacity_of_zero_is_a_pause)
{
    fairsem_t sem;
    struct worker fence = { 0 }, fits = { 0 }, large = { 0 };
    fairsem_ticket_t ticket = { 0 };

    init_bounded(&sem, 3, 3);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 0), 0);
    ck_assert_int_eq(fairsem_capacity(&sem), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert(fairsem_would_block(&sem, 0));
    ck_assert(fairsem_would_block(&sem, 100));
    ck_assert_int_eq(fairsem_tryacquire(&sem, 0), EAGAIN);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 100), EAGAIN);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 1), 0);
    ck_assert_int_eq(fairsem_acquire_for(&sem, 0, 0), ETIMEDOUT);
    ck_assert_int_eq(fairsem_acquire_for(&sem, 100, 1000), ETIMEDOUT);
    ck_assert_int_eq(fairsem_release(&sem, 1), EOVERFLOW);

    worker_queue(&fence, &sem, 0, 1);
    worker_queue(&fits, &sem, 2, 2);
    worker_queue(&large, &sem, 4, 3);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 0, -1, NULL, NULL), EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_WAITING);
    ck_assert_int_eq(fairsem_release(&sem, 0), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 4);

    ck_assert_int_eq(fairsem_set_capacity(&sem, 3), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(worker_join(&fence), 0);
    ck_assert_int_eq(worker_join(&fits), 0);
    ck_assert_int_eq(worker_join(&large), E2BIG);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* No request fails in a pause, and units released meanwhile are granted after it. */
START_TEST(units_released_in_a_pause_are_kept)
{
    fairsem_t sem;
    struct worker w = { 0 };

    init_bounded(&sem, 4, 4);
    ck_assert_int_eq(fairsem_acquire(&sem, 3), 0);
    worker_queue(&w, &sem, 4, 1);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 0), 0);
    ck_assert_int_eq(fairsem_available(&sem), -3);
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 4), 0);
    ck_assert_int_eq(worker_join(&w), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_release(&sem, 4), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(an_invalid_capacity_is_refused_and_changes_nothing)
{
    fairsem_t unbounded = FAIRSEM_INITIALIZER(3), sem;

    ck_assert_int_eq(fairsem_set_capacity(&unbounded, 5), EINVAL);
    ck_assert_int_eq(fairsem_set_capacity(&unbounded, 0), EINVAL);
    ck_assert_int_eq(fairsem_set_capacity(&unbounded, -1), EINVAL);
    ck_assert_int_eq(fairsem_capacity(&unbounded), -1);
    ck_assert_int_eq(fairsem_available(&unbounded), 3);
    init_bounded(&sem, 3, 4);
    ck_assert_int_eq(fairsem_set_capacity(&sem, -1), EINVAL);
    ck_assert_int_eq(fairsem_set_capacity(&sem, INT64_MIN), EINVAL);
    ck_assert_int_eq(fairsem_set_capacity(&sem, FAIRSEM_MAX_UNITS + 1), EINVAL);
    ck_assert_int_eq(fairsem_capacity(&sem), 4);
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* ---------------------------------------------------------------- changes during use */

enum { MOST = 6 };

struct user {
    pthread_t        thread;
    fairsem_t       *sem;
    _Atomic int     *stop;
    _Atomic int64_t *held, *most_held;
    int64_t          units;
    int              strange;
};

static void *use(void *arg)
{
    struct user *u = arg;

    while (!atomic_load(u->stop)) {
        int result = fairsem_acquire(u->sem, u->units);

        if (result == 0) {
            int64_t held = atomic_fetch_add(u->held, u->units) + u->units;
            int64_t most = atomic_load(u->most_held);

            while (held > most && !atomic_compare_exchange_weak(u->most_held, &most, held))
                continue;
            atomic_fetch_sub(u->held, u->units);
            u->strange += fairsem_release(u->sem, u->units) != 0;
        } else {
            u->strange += result != E2BIG || u->units == 1;
        }
    }
    return NULL;
}

/* No unit is lost or made while the capacity changes between acquires and releases. */
START_TEST(changes_of_capacity_during_acquires_and_releases_lose_nothing)
{
    enum { USERS = 4 };
    fairsem_t sem;
    struct user users[USERS];
    _Atomic int stop = 0;
    _Atomic int64_t held = 0, most_held = 0;

    init_bounded(&sem, MOST, MOST);
    for (int i = 0; i < USERS; i++) {
        users[i] = (struct user){ .sem = &sem, .stop = &stop, .held = &held,
                                  .most_held = &most_held, .units = 1 + i % 3 };
        start_thread(&users[i].thread, use, &users[i]);
    }
    for (int i = 0; i < stress_times(10000); i++) {
        if (fairsem_set_capacity(&sem, i * 5 % (MOST + 1)) != 0)
            ck_abort_msg("set_capacity failed");
        if (i % 100 == 0)
            moment();
    }
    ck_assert_int_eq(fairsem_set_capacity(&sem, MOST), 0);
    atomic_store(&stop, 1);
    for (int i = 0; i < USERS; i++) {
        pthread_join(users[i].thread, NULL);
        ck_assert_int_eq(users[i].strange, 0);
    }
    ck_assert_int_le(most_held, MOST);
    ck_assert_int_eq(fairsem_available(&sem), MOST);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/*
 * All 3 units are in use: a ticket was granted 2, and a thread that holds 1 releases 2.  When the
 * ticket is returned, only one of its units fits.  The library once lost both.
 */
START_TEST(a_returned_grant_gives_back_the_units_that_fit)
{
    const fairsem_attr_t attr = { .capacity = 3 };
    fairsem_t sem;
    fairsem_ticket_t ticket = { 0 };
    fairsem_stat_t stat;

    ck_assert_int_eq(fairsem_init(&sem, 3, &attr), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 2, 0, NULL, NULL), 0);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
    ck_assert_int_eq(stat.over_releases, 1);
    ck_assert_int_eq(fairsem_release(&sem, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("capacity", a_static_semaphore_can_have_a_capacity,
              units_in_use_stay_in_use_when_the_capacity_changes,
              a_larger_capacity_grants_the_waiters_that_fit,
              a_smaller_capacity_fails_every_request_for_more,
              when_a_smaller_capacity_fails_the_head_the_waiters_behind_it_are_granted,
              growing_while_too_much_is_in_use_grants_nothing, a_capacity_of_zero_is_a_pause,
              units_released_in_a_pause_are_kept,
              an_invalid_capacity_is_refused_and_changes_nothing,
              changes_of_capacity_during_acquires_and_releases_lose_nothing,
              a_returned_grant_gives_back_the_units_that_fit);
}
