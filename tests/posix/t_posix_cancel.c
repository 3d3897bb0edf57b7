/* SPDX-License-Identifier: MIT */
/*
 * t_posix_cancel.c - sem_wait is a cancellation point even if it need not wait; sem_trywait and
 * sem_post are not cancellation points.
 *
 * t_interrupt.c tests that a canceled waiter loses no unit.
 */
#include "callers.h"

struct pending {
    sem_t   *sem;
    enum how how;
    int      sum;       /* of results that must be 0; read after the join */
};

/* Call `run` in a new thread.  Returns the result of the thread. */
static void *end_of(void *(*run)(void *), struct pending *p)
{
    pthread_t thread;
    void *result;

    start_thread(&thread, run, p);
    pthread_join(thread, &result);
    return result;
}

static void *wait_with_a_pending_cancel(void *arg)
{
    struct pending *p = arg;

    pthread_cancel(pthread_self());
    wait_somehow(p->sem, p->how);
    return NULL;
}

/* So a thread can be canceled in a loop of waits that always find a free unit, and keeps no unit. */
START_TEST(a_pending_cancel_acts_in_a_wait_even_if_a_unit_is_free_and_takes_none)
{
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 3));
    for (int how = 0; how < WAYS; how++) {
        struct pending p = { .sem = &sem, .how = (enum how)how };

        ck_assert_ptr_eq(end_of(wait_with_a_pending_cancel, &p), PTHREAD_CANCELED);
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
    p->sum += sem_trywait(p->sem) == -1 && errno == EAGAIN ? 0 : 1000;
    p->sum += sem_post(p->sem) + sem_post(p->sem);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    p->sum += wait_somehow(p->sem, p->how);
    return p;
}

/* Even while another thread waits: then a post takes another path through the library. */
START_TEST(only_a_wait_is_a_cancellation_point)
{
    for (int how = 0; how < 2 * WAYS; how++) {
        struct pending p = { .how = (enum how)(how % WAYS) };
        const bool waited_for = how >= WAYS;
        struct caller c = { 0 };
        sem_t sem;

        ck_assert_works(sem_init(&sem, 0, 0));
        p.sem = &sem;
        if (waited_for)
            caller_queue(&c, &sem, WAIT, 1);
        ck_assert_ptr_eq(end_of(use_with_a_pending_cancel, &p), &p);
        ck_assert_int_eq(p.sum, 0);
        ck_assert_int_eq(waited_for ? caller_join(&c) : 0, 0);
        ck_assert_int_eq(value_of(&sem), waited_for ? 0 : 1);
        ck_assert_works(sem_destroy(&sem));
    }
}
END_TEST

int main(void)
{
    if (has_no_sem_t())
        return SKIPPED;
    RUN_SUITE("posix cancel", a_pending_cancel_acts_in_a_wait_even_if_a_unit_is_free_and_takes_none,
              only_a_wait_is_a_cancellation_point);
}
