/* SPDX-License-Identifier: MIT */
/*
 * t_arrival_order.c - waiters are granted in order of arrival, and no thread passes a waiter.
 *
 * A number like U4 is a row of doc/scenarios.md: a bug of another semaphore, which the test would
 * find.  The project and the number of its bug report follow.
 */
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <string.h>

#define MANY 64

/* U4 (gevent 1487: waiters in a set, woken in hash order).  The i-th waiter gets place i. */
START_TEST(waiters_are_granted_in_arrival_order)
{
    for (int round = 0; round < stress_times(4); round++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        static struct worker w[MANY];
        _Atomic int service = 0;

        memset(w, 0, sizeof w);
        for (int i = 0; i < MANY; i++) {
            w[i].service = &service;
            worker_queue(&w[i], &sem, 1, i + 1);
        }
        for (int i = 0; i < MANY; i++) {
            ck_assert_int_eq(fairsem_release(&sem, 1), 0);
            await_result(&w[i]);    /* `place` below shows that no other came before */
        }
        for (int i = 0; i < MANY; i++) {
            ck_assert_int_eq(worker_join(&w[i]), 0);
            ck_assert_int_eq(w[i].place, i);
        }
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

/* U1 (cpython 90155), U5 (async-lock 23): the releaser must not get its unit back.  The unit
 * belongs to the waiter before the waiter has run (U30: anyio 1170). */
START_TEST(a_releaser_cannot_take_the_unit_back_from_a_waiter)
{
    for (int round = 0; round < stress_times(400); round++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(1);
        struct worker w = { 0 };

        ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
        worker_queue(&w, &sem, 1, 1);
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
        ck_assert_int_eq(worker_join(&w), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

/* U2 (cpython 97545: three passes for release(3)).  When it returns, all three are granted. */
START_TEST(one_release_grants_all_that_fit)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker w[4] = { { 0 } };

    for (int i = 0; i < 4; i++)
        worker_queue(&w[i], &sem, 1, i + 1);
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(worker_join(&w[i]), 0);
    ck_assert(worker_waits(&w[3]));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w[3]), 0);
}
END_TEST

/* More waiters than the releaser's wake queue can list. */
START_TEST(one_release_grants_hundreds)
{
    enum { COUNT = 300 };
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker *w = calloc(COUNT, sizeof *w);

    for (int i = 0; i < COUNT; i++)
        worker_queue(&w[i], &sem, 1, i + 1);
    ck_assert_int_eq(fairsem_release(&sem, COUNT), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(worker_join(&w[i]), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    free(w);
}
END_TEST

/* U6 (Java's tryAcquire passes the queue).  A large head holds up all small requests, although
 * there are enough units for them. */
START_TEST(no_way_to_take_units_passes_a_waiter)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_attr_t attr = { .capacity = 8 };
    struct timespec past;
    fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .deadline = &past };
    struct worker head = { 0 }, small = { 0 };

    ck_assert_int_eq(fairsem_init(&sem, 4, &attr), 0);
    past = from_now(CLOCK_MONOTONIC, -1000);
    worker_queue(&head, &sem, 8, 1);
    worker_queue(&small, &sem, 1, 2);

    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 0), EAGAIN);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 4), 0);
    ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 0), ETIMEDOUT);
    ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 1), ETIMEDOUT);
    ck_assert_int_eq(fairsem_acquire_until(&sem, 1, CLOCK_MONOTONIC, &past), ETIMEDOUT);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), ETIMEDOUT);
    ck_assert(fairsem_would_block(&sem, 1));
    ck_assert(fairsem_would_block(&sem, 0));
    ck_assert(worker_waits(&small));
    ck_assert_int_eq(fairsem_available(&sem), 4);
    ck_assert_int_eq(fairsem_waiters(&sem), 2);

    ck_assert_int_eq(fairsem_release(&sem, 4), 0);
    ck_assert_int_eq(worker_join(&head), 0);
    ck_assert(worker_waits(&small));
    ck_assert_int_eq(fairsem_release(&sem, 8), 0);
    ck_assert_int_eq(worker_join(&small), 0);
    ck_assert_int_eq(fairsem_available(&sem), 7);
}
END_TEST

struct barger {
    pthread_t    thread;
    fairsem_t   *sem;
    _Atomic int *stop;
    int64_t      taken;
};

static void *barge(void *arg)
{
    struct barger *b = arg;

    while (!atomic_load(b->stop)) {
        if (fairsem_tryacquire(b->sem, 1) == 0)
            b->taken++;
        b->taken += fairsem_tryacquire_upto(b->sem, 1);
        moment();
    }
    return NULL;
}

/* U5: eight threads try all the time.  A waiter waits for each unit that is released, so they must
 * get nothing. */
START_TEST(bargers_get_nothing_while_a_thread_waits)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct barger bargers[8];
    struct worker w[40] = { { 0 } };
    _Atomic int stop = 0;

    for (int i = 0; i < 8; i++) {
        bargers[i] = (struct barger){ .sem = &sem, .stop = &stop };
        start_thread(&bargers[i].thread, barge, &bargers[i]);
    }
    for (int i = 0; i < 40; i++) {
        worker_queue(&w[i], &sem, 1, 1);
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(worker_join(&w[i]), 0);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 8; i++) {
        pthread_join(bargers[i].thread, NULL);
        ck_assert_int_eq(bargers[i].taken, 0);
    }
}
END_TEST

struct victim {
    fairsem_t  *sem;
    int         rounds;
    _Atomic int granted;
};

static void *be_victim(void *arg)
{
    struct victim *v = arg;

    for (int i = 0; i < v->rounds; i++) {
        insist(0, fairsem_acquire(v->sem, 1));
        atomic_fetch_add(&v->granted, 1);
        await_waiters(v->sem, 1);       /* the hog waits to get it back */
        fairsem_release(v->sem, 1);
    }
    return NULL;
}

/* U3 (.NET 5600, vs-threading 502: a tight release/acquire loop starves another thread),
 * U7.  The hog sees the victim in the queue, releases and re-acquires at once: each time the
 * victim is granted in between. */
START_TEST(a_hog_that_reacquires_at_once_cannot_starve_a_waiter)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    struct victim v = { .sem = &sem, .rounds = (int)stress_times(500) };
    pthread_t thread;

    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    start_thread(&thread, be_victim, &v);
    for (int i = 0; i < v.rounds; i++) {
        await_waiters(&sem, 1);
        ck_assert_int_eq(atomic_load(&v.granted), i);
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
        ck_assert_int_eq(atomic_load(&v.granted), i + 1);
    }
    pthread_join(thread, NULL);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
}
END_TEST

/* U56 (libc++ 46357, gcc 98033: no wake-up because the count was positive already).
 * Two releases in a row must be enough to grant two waiters. */
START_TEST(two_releases_in_a_row_grant_two_waiters)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    for (int round = 0; round < stress_times(200); round++) {
        struct worker a = { 0 }, b = { 0 };

        worker_queue(&a, &sem, 1, 1);
        worker_queue(&b, &sem, 1, 2);
        fairsem_release(&sem, 1);
        fairsem_release(&sem, 1);
        ck_assert_int_eq(worker_join(&a), 0);
        ck_assert_int_eq(worker_join(&b), 0);
    }
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

/* marusama 3 wakes waiters only when the count crosses a limit. */
START_TEST(units_released_one_by_one_add_up_for_a_large_request)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker large = { 0 }, small = { 0 };

    worker_queue(&large, &sem, 3, 1);
    worker_queue(&small, &sem, 1, 2);
    for (int i = 1; i <= 2; i++) {
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(fairsem_available(&sem), i);
        ck_assert_int_eq(fairsem_waiters(&sem), 2);
    }
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&large), 0);
    ck_assert(worker_waits(&small));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&small), 0);
}
END_TEST

/* A request for 0 units still waits for all that came before it. */
START_TEST(acquire_of_zero_is_a_fence)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker first = { 0 }, fence = { 0 }, last = { 0 };
    _Atomic int service = 0;

    ck_assert_int_eq(fairsem_acquire(&sem, 0), 0);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 0), 0);
    ck_assert_int_eq(fairsem_acquire_for(&sem, 0, 0), 0);
    ck_assert(!fairsem_would_block(&sem, 0));

    first.service = fence.service = last.service = &service;
    worker_queue(&first, &sem, 1, 1);
    worker_queue(&fence, &sem, 0, 2);
    worker_queue(&last, &sem, 1, 3);
    ck_assert_int_eq(fairsem_release(&sem, 0), 0);
    ck_assert(worker_waits(&fence));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&first), 0);
    ck_assert_int_eq(worker_join(&fence), 0);
    ck_assert(worker_waits(&last));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&last), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("arrival_order", waiters_are_granted_in_arrival_order,
              a_releaser_cannot_take_the_unit_back_from_a_waiter, one_release_grants_all_that_fit,
              one_release_grants_hundreds, no_way_to_take_units_passes_a_waiter,
              bargers_get_nothing_while_a_thread_waits,
              a_hog_that_reacquires_at_once_cannot_starve_a_waiter,
              two_releases_in_a_row_grant_two_waiters,
              units_released_one_by_one_add_up_for_a_large_request, acquire_of_zero_is_a_fence);
}
