/* SPDX-License-Identifier: MIT */
/*
 * t_posix_cancel.c - sem_wait is a cancellation point even if it need not wait; sem_trywait and
 * sem_post are not.
 */
#include "callers.h"
#include "stress.h"

#include <stdio.h>

struct pending {
    sem_t   *sem;
    enum how how;
    int      sum;       /* r/o after join: of what must return 0 */
};

static void *wait_with_a_pending_cancel(void *arg)
{
    struct pending *p = arg;

    pthread_cancel(pthread_self());
    wait_somehow(p->sem, p->how);
    return NULL;
}

/* So a loop of waits that never have to wait can be canceled, and keeps no unit. */
START_TEST(a_pending_cancel_acts_in_a_wait_even_if_a_unit_is_free_and_takes_none)
{
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 3));
    for (int how = 0; how < WAYS; how++) {
        struct pending p = { .sem = &sem, .how = (enum how)how };
        pthread_t thread;
        void *result;

        start_thread(&thread, wait_with_a_pending_cancel, &p);
        pthread_join(thread, &result);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
        ck_assert_int_eq(value_of(&sem), 3);
    }
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

static void *use_with_a_pending_cancel(void *arg)
{
    struct pending *p = arg;
    sem_t own;
    int value;

    pthread_cancel(pthread_self());
    p->sum += sem_init(&own, 0, 1) + sem_trywait(&own) + sem_post(&own)
              + sem_getvalue(&own, &value) + sem_destroy(&own);
    p->sum += sem_post(p->sem) + sem_trywait(p->sem);
    p->sum += sem_trywait(p->sem) == -1 && errno == EAGAIN ? 0 : 1000;
    p->sum += sem_post(p->sem);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    p->sum += wait_somehow(p->sem, p->how);
    return p;
}

/* Also if a thread waits: then a post takes another path through the library. */
START_TEST(only_a_wait_is_a_cancellation_point)
{
    for (int how = 0; how < WAYS; how++) {
        struct pending p = { .how = (enum how)how };
        pthread_t thread;
        void *result;
        sem_t sem;

        ck_assert_works(sem_init(&sem, 0, 0));
        p.sem = &sem;
        start_thread(&thread, use_with_a_pending_cancel, &p);
        pthread_join(thread, &result);
        ck_assert_ptr_eq(result, &p);
        ck_assert_int_eq(p.sum, 0);
        ck_assert_int_eq(value_of(&sem), 0);
        ck_assert_works(sem_destroy(&sem));
    }
}
END_TEST

static void *post_with_a_pending_cancel(void *arg)
{
    struct pending *p = arg;

    pthread_cancel(pthread_self());
    p->sum = sem_post(p->sem) + sem_trywait(p->sem);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return p;
}

START_TEST(a_post_that_grants_to_a_waiter_is_no_cancellation_point)
{
    struct caller c[2] = { { 0 } };
    struct pending p = { 0 };
    pthread_t thread;
    void *result;
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    p.sem = &sem;
    caller_queue(&c[0], &sem, WAIT, 1);
    caller_queue(&c[1], &sem, WAIT, 2);
    start_thread(&thread, post_with_a_pending_cancel, &p);
    pthread_join(thread, &result);
    ck_assert_ptr_eq(result, &p);
    ck_assert_int_eq(p.sum, -1);        /* posted; the try failed */
    ck_assert_works(sem_post(&sem));
    ck_assert_int_eq(caller_join(&c[0]), 0);
    ck_assert_int_eq(caller_join(&c[1]), 0);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

/* Canceled before, with or after the post: one of the two gets the unit, or it is free. */
START_TEST(a_canceled_waiter_loses_no_unit)
{
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    for (int round = 0; round < stress_times(150); round++) {
        struct caller c = { 0 }, behind = { 0 };

        caller_queue(&c, &sem, (enum how)(round % WAYS), 1);
        caller_queue(&behind, &sem, WAIT, 2);
        for (int i = 0; i < round % 20 * 20; i++)
            moment();
        if (round % 2 == 0) {
            sem_post(&sem);
            pthread_cancel(c.thread);
        } else {
            pthread_cancel(c.thread);
            sem_post(&sem);
        }
        if (caller_join(&c) == 0)
            ck_assert_works(sem_post(&sem));
        ck_assert_int_eq(caller_join(&behind), 0);
        ck_assert_int_eq(value_of(&sem), 0);
        ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 0);
    }
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

int main(void)
{
    if (has_no_sem_t())
        return SKIPPED;
    /* ThreadSanitizer loses track of threads that are canceled in a call it does not know. */
    if (UNDER_TSAN)
        RUN_SUITE("posix cancel",
                  a_pending_cancel_acts_in_a_wait_even_if_a_unit_is_free_and_takes_none,
                  only_a_wait_is_a_cancellation_point,
                  a_post_that_grants_to_a_waiter_is_no_cancellation_point);
    RUN_SUITE("posix cancel", a_pending_cancel_acts_in_a_wait_even_if_a_unit_is_free_and_takes_none,
              only_a_wait_is_a_cancellation_point,
              a_post_that_grants_to_a_waiter_is_no_cancellation_point,
              a_canceled_waiter_loses_no_unit);
}
