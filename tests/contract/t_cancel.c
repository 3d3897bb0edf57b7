/* SPDX-License-Identifier: MIT */
/*
 * t_cancel.c - pthread_cancel in a wait: the waiter leaves the queue, and no unit is lost or made.
 * (U51: TizenRT 7526, nuttx 619, dmtcp 138 left a stale node or count behind.)
 */
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <sched.h>

static void cancel_and_join(struct worker *w)
{
    void *result;

    ck_assert_int_eq(pthread_cancel(w->thread), 0);
    pthread_join(w->thread, &result);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
}

START_TEST(a_canceled_waiter_leaves_the_queue)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker head = { 0 }, middle = { 0 }, last = { 0 };
    struct timespec deadline = from_now(CLOCK_REALTIME, 3600 * 1000);

    middle.clock = CLOCK_REALTIME;
    middle.deadline = &deadline;
    worker_queue(&head, &sem, 1, 1);
    worker_queue(&middle, &sem, 1, 2);
    worker_queue(&last, &sem, 1, 3);
    cancel_and_join(&middle);
    ck_assert_int_eq(fairsem_waiters(&sem), 2);
    cancel_and_join(&head);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&last), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U10 and U11 for pthread_cancel: a waiter behind it that fits is granted. */
START_TEST(when_a_large_head_is_canceled_the_waiters_behind_it_are_granted)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(5);
    struct worker head = { 0 }, fits = { 0 }, after = { 0 };

    worker_queue(&head, &sem, 8, 1);
    worker_queue(&fits, &sem, 2, 2);
    worker_queue(&after, &sem, 6, 3);
    cancel_and_join(&head);
    ck_assert_int_eq(worker_join(&fits), 0);
    ck_assert(worker_waits(&after));
    ck_assert_int_eq(fairsem_available(&sem), 3);
    cancel_and_join(&after);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_available(&sem), 3);
}
END_TEST

/* U14 (kotlinx PR 1323: canceling an ungranted waiter woke the next one).  W2 must wait. */
START_TEST(canceling_a_waiter_that_has_nothing_gives_nothing_to_the_next)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker w1 = { 0 }, w2 = { 0 };

    worker_queue(&w1, &sem, 1, 1);
    worker_queue(&w2, &sem, 1, 2);
    cancel_and_join(&w1);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert(worker_waits(&w2));
    cancel_and_join(&w2);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
}
END_TEST

/* U1, second half: when the waiter has been canceled, the releaser can take the unit itself. */
START_TEST(a_unit_is_not_reserved_for_a_waiter_that_is_gone)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    struct worker w = { 0 };

    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    worker_queue(&w, &sem, 1, 1);
    cancel_and_join(&w);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
}
END_TEST

static void *cancel_self_and_use(void *arg)
{
    fairsem_t *sem = arg;
    static int sum;

    pthread_cancel(pthread_self());
    sum = fairsem_acquire(sem, 1) + fairsem_tryacquire(sem, 1) + fairsem_acquire_for(sem, 1, 1000)
          + fairsem_acquire_for(sem, 1, 0) + fairsem_release(sem, 4)
          + (int)fairsem_tryacquire_upto(sem, 1) - 1 + fairsem_release(sem, 1)
          + (int)fairsem_waiters(sem) + fairsem_would_block(sem, 1);
    sum += fairsem_tryacquire(sem, 100) == EAGAIN ? 0 : 1000;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return &sum;
}

/* A pending cancel acts only in a wait: elsewhere the thread would end with its units. */
START_TEST(only_a_wait_is_a_cancellation_point)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(9);
    pthread_t thread;
    void *sum;

    start_thread(&thread, cancel_self_and_use, &sem);
    pthread_join(thread, &sum);
    ck_assert_ptr_ne(sum, PTHREAD_CANCELED);
    ck_assert_int_eq(*(int *)sum, 0);
    ck_assert_int_eq(fairsem_available(&sem), 9);
}
END_TEST

static void *cancel_self_and_wait(void *arg)
{
    pthread_cancel(pthread_self());
    insist(0, fairsem_acquire(arg, 1));
    return NULL;
}

START_TEST(a_pending_cancel_acts_when_the_wait_begins)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    pthread_t thread;
    void *result;

    start_thread(&thread, cancel_self_and_wait, &sem);
    pthread_join(thread, &result);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
}
END_TEST

/* U13 (a unit lost between the grant and the cancel).  A release races with the cancel of
 * W1; W2 waits behind it.  The unit goes to W1, which then releases it, or to W2. */
START_TEST(a_grant_that_races_with_a_cancel_is_kept_or_passed_on)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    for (int i = 0; i < stress_times(600); i++) {
        struct worker w1 = { 0 }, w2 = { 0 };
        int first;

        worker_queue(&w1, &sem, 1, 1);
        worker_queue(&w2, &sem, 1, 2);
        if (i % 2 == 0) {
            pthread_cancel(w1.thread);
            fairsem_release(&sem, 1);
        } else {
            fairsem_release(&sem, 1);
            pthread_cancel(w1.thread);
        }
        first = worker_join(&w1);
        if (first == 0)
            fairsem_release(&sem, 1);       /* W1 kept it: now it is W2's turn */
        else
            ck_assert_int_eq(first, STILL_WAITING);
        ck_assert_int_eq(worker_join(&w2), 0);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("cancel", a_canceled_waiter_leaves_the_queue,
              when_a_large_head_is_canceled_the_waiters_behind_it_are_granted,
              canceling_a_waiter_that_has_nothing_gives_nothing_to_the_next,
              a_unit_is_not_reserved_for_a_waiter_that_is_gone, only_a_wait_is_a_cancellation_point,
              a_pending_cancel_acts_when_the_wait_begins,
              a_grant_that_races_with_a_cancel_is_kept_or_passed_on);
}
