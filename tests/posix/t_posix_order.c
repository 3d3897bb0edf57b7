/* SPDX-License-Identifier: MIT */
/*
 * t_posix_order.c - sem_post grants to the highest priority, and then in order of arrival.
 */
#define _GNU_SOURCE
#include "callers.h"

/* The waiters wait in different functions. */
START_TEST(five_waiters_are_granted_in_order_of_arrival_and_no_thread_passes)
{
    struct caller c[5] = { { 0 } };
    _Atomic int service = 0;
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 1));
    ck_assert_works(sem_wait(&sem));
    for (int i = 0; i < 5; i++) {
        c[i].service = &service;
        caller_queue(&c[i], &sem, (enum how)(i % WAYS), i + 1);
        ck_assert_int_eq(value_of(&sem), 0);
    }
    for (int i = 0; i < 5; i++) {
        ck_assert_works(sem_post(&sem));
        ck_assert_int_eq(value_of(&sem), 0);    /* the unit is the waiter's, even if its call goes on */
        ck_assert_fails(sem_trywait(&sem), EAGAIN);
        ck_assert_int_eq(caller_join(&c[i]), 0);
        ck_assert_int_eq(c[i].place, i);
        ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 4 - i);
    }
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

/* POSIX, sem_post: the highest priority, and among equals the thread that has waited longest. */
START_TEST(waiters_with_a_real_time_priority_go_first_in_the_order_of_priority_then_arrival)
{
    static const struct { int policy, priority, place; } row[] = {
        { SCHED_OTHER, 0, 4 }, { SCHED_FIFO, 1, 2 }, { SCHED_OTHER, 0, 5 }, { SCHED_RR, 3, 0 },
        { SCHED_FIFO, 1, 3 },  { SCHED_OTHER, 0, 6 }, { SCHED_FIFO, 2, 1 },
    };
    enum { COUNT = sizeof row / sizeof row[0] };
    const struct sched_param first = { .sched_priority = 1 }, none = { .sched_priority = 0 };
    struct caller c[COUNT] = { { 0 } };
    _Atomic int service = 0;
    sem_t sem;

    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) != 0)
        NOT_HERE("no right to real-time priorities");
    ck_assert_int_eq(pthread_setschedparam(pthread_self(), SCHED_OTHER, &none), 0);
    ck_assert_works(sem_init(&sem, 0, 0));
    for (int i = 0; i < COUNT; i++) {
        c[i].service = &service;
        c[i].policy = row[i].policy;
        c[i].priority = row[i].priority;
        caller_queue(&c[i], &sem, (enum how)(i % WAYS), i + 1);
    }
    for (int place = 0; place < COUNT; place++) {
        ck_assert_works(sem_post(&sem));
        while (atomic_load(&service) != place + 1)
            moment();
    }
    for (int i = 0; i < COUNT; i++) {
        ck_assert_int_eq(caller_join(&c[i]), 0);
        ck_assert_int_eq(c[i].place, row[i].place);
    }
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

int main(void)
{
    if (has_no_sem_t())
        return SKIPPED;
    RUN_SUITE("posix order", five_waiters_are_granted_in_order_of_arrival_and_no_thread_passes,
              waiters_with_a_real_time_priority_go_first_in_the_order_of_priority_then_arrival);
}
