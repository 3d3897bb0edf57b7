/* SPDX-License-Identifier: MIT */
/*
 * t_bypass.c - FAIRSEM_BOUNDED_BYPASS: which threads may pass a waiter, for how long, and that
 * every waiter is granted in the end.
 */
#include "suite.h"
#include "workers.h"

#include <errno.h>

#define HOUR_NS (INT64_C(3600) * 1000000000)

static void init(fairsem_t *sem, int64_t units, int64_t bypass_ns)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = bypass_ns };

    ck_assert_int_eq(fairsem_init(sem, units, &attr), 0);
}

START_TEST(the_flag_and_the_bound_need_each_other)
{
    fairsem_t sem;
    const fairsem_attr_t refused[] = {
        { .flags = FAIRSEM_BOUNDED_BYPASS },
        { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = -1 },
        { .bypass_ns = 1 },
        { .bypass_ns = -1 },
    };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        ck_assert_int_eq(fairsem_init(&sem, 1, &refused[i]), EINVAL);
}
END_TEST

/* The try must come before the sleeper runs: in one of some rounds it does. */
START_TEST(a_running_thread_takes_a_unit_that_a_sleeper_has_not_claimed)
{
    int passed = 0;

    while (passed == 0) {
        struct worker w = { 0 };
        fairsem_t sem;

        init(&sem, 0, HOUR_NS);
        worker_queue(&w, &sem, 1, 1);
        for (int i = 0; i < 1000; i++)
            moment();      /* then it may be asleep; no order depends on this */
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        if (fairsem_tryacquire(&sem, 1) == 0) {
            passed++;
            ck_assert_int_eq(fairsem_available(&sem), 0);
            ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        }
        ck_assert_int_eq(worker_join(&w), 0);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

/* The bound is 1 ns: a waiter that is in the queue has waited for so long. */
START_TEST(a_waiter_is_not_passed_after_the_bound)
{
    for (int round = 0; round < 200; round++) {
        struct worker w = { 0 };
        fairsem_t sem;

        init(&sem, 0, 1);
        worker_queue(&w, &sem, 1, 1);
        if (round % 2 == 0)
            moment();
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
        ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 1), 0);
        ck_assert_int_eq(worker_join(&w), 0);
    }
}
END_TEST

/* Within the bound a request may pass even if the head does not fit. */
START_TEST(a_small_request_passes_a_large_one_that_does_not_fit)
{
    struct worker w = { 0 };
    fairsem_t sem;

    init(&sem, 3, HOUR_NS);
    worker_queue(&w, &sem, 5, 1);
    while (fairsem_tryacquire(&sem, 1) != 0)
        moment();                  /* the head may still be awake */
    ck_assert(!fairsem_would_block(&sem, 2));
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 1), 1);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 4), 1);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_release(&sem, 5), 0);
    ck_assert_int_eq(worker_join(&w), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

/* After the bound no request passes: the large one does not starve. */
START_TEST(a_large_request_is_not_passed_after_the_bound)
{
    struct worker w = { 0 };
    fairsem_t sem;

    init(&sem, 3, 1);
    worker_queue(&w, &sem, 5, 1);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
        ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 0), ETIMEDOUT);
        ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 1), 0);
        ck_assert(fairsem_would_block(&sem, 1));
        moment();
    }
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(worker_join(&w), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

START_TEST(waiters_keep_their_order_among_themselves)
{
    fairsem_t sem;
    struct worker w[5] = { { 0 } };

    init(&sem, 0, HOUR_NS);
    for (int i = 0; i < 5; i++)
        worker_queue(&w[i], &sem, 1, i + 1);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(worker_join(&w[i]), 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 4 - i);
    }
}
END_TEST

/* It has no thread that could wake up and claim the units. */
START_TEST(a_ticket_is_granted_by_the_release)
{
    fairsem_t sem;
    fairsem_ticket_t ticket = { 0 };

    init(&sem, 0, HOUR_NS);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), EINPROGRESS);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
}
END_TEST

static void *wait_with(void *arg)
{
    struct { struct worker w; fairsem_token_t token; } *both = arg;
    const fairsem_wait_t how = { .token = &both->token };

    atomic_store(&both->w.result, fairsem_acquire_with(both->w.sem, 1, &how));
    return NULL;
}

/* The first waiter is woken to claim.  If it is canceled instead, the second must be woken. */
START_TEST(a_woken_waiter_that_is_canceled_leaves_its_unit_to_the_next)
{
    for (int round = 0; round < 300; round++) {
        struct { struct worker w; fairsem_token_t token; } first = { .w = { 0 } };
        struct worker second = { 0 };
        fairsem_t sem;

        init(&sem, 0, HOUR_NS);
        first.w.sem = &sem;
        first.w.result = STILL_WAITING;
        ck_assert_int_eq(fairsem_token_init(&first.token), 0);
        start_thread(&first.w.thread, wait_with, &first);
        await_waiters(&sem, 1);
        worker_queue(&second, &sem, 1, 2);
        for (int i = 0; i < round; i++)
            moment();
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        fairsem_token_cancel(&first.token, ECANCELED);
        if (worker_join(&first.w) == 0)
            ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        else
            ck_assert_int_eq(first.w.result, ECANCELED);
        ck_assert_int_eq(worker_join(&second), 0);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(fairsem_token_destroy(&first.token), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

/* Capacity 0 holds for every request, of any size. */
START_TEST(no_thread_passes_during_a_pause)
{
    const fairsem_attr_t attr = {
        .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = HOUR_NS, .capacity = 2
    };
    struct worker w = { 0 };
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, 2, &attr), 0);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 0), 0);
    worker_queue(&w, &sem, 1, 1);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(fairsem_tryacquire(&sem, 0), EAGAIN);
        ck_assert(fairsem_would_block(&sem, 0));
        moment();          /* the waiter is awake at first, then asleep */
    }
    ck_assert_int_eq(fairsem_set_capacity(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w), 0);
}
END_TEST

/* The capacity holds for threads that pass, too, and a refused call changes nothing. */
START_TEST(capacity_and_close_hold_while_threads_may_pass)
{
    const fairsem_attr_t attr = {
        .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = HOUR_NS, .capacity = 2
    };

    for (int round = 0; round < 200; round++) {
        struct worker w = { 0 };
        fairsem_t sem;

        ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
        worker_queue(&w, &sem, 2, 1);
        for (int i = 0; i < round; i++)
            moment();
        ck_assert_int_eq(fairsem_release(&sem, 2), 0);
        if (fairsem_available(&sem) == 2)   /* or the waiter has them */
            ck_assert_int_ne(fairsem_release(&sem, 3), 0);
        ck_assert_int_eq(fairsem_tryacquire(&sem, 3), E2BIG);
        ck_assert_int_eq(fairsem_close(&sem, ECANCELED), 0);
        ck_assert_int_eq(fairsem_tryacquire(&sem, 1), ECANCELED);
        if (worker_join(&w) == 0)
            ck_assert_int_eq(fairsem_available(&sem), 0);
        else
            ck_assert_int_eq(fairsem_available(&sem), 2);
    }
}
END_TEST

struct counter {
    fairsem_t sem;
    int64_t   count;        /* not atomic: the unit protects it */
};

#define COUNTS 5000

static void *count_up(void *arg)
{
    struct counter *c = arg;

    for (int i = 0; i < COUNTS; i++) {
        if (i % 2 == 0 || fairsem_tryacquire(&c->sem, 1) != 0)
            insist(0, fairsem_acquire(&c->sem, 1));
        c->count++;
        fairsem_release(&c->sem, 1);
    }
    return NULL;
}

/* Also for threads that pass: one thread has the unit, and sees what the others wrote with it. */
START_TEST(one_unit_excludes_threads_and_orders_memory)
{
    struct counter c = { .count = 0 };
    pthread_t thread[4];

    init(&c.sem, 1, 100000);
    for (int i = 0; i < 4; i++)
        start_thread(&thread[i], count_up, &c);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(c.count, 4 * COUNTS);
    ck_assert_int_eq(fairsem_available(&c.sem), 1);
    ck_assert_int_eq(fairsem_waiters(&c.sem), 0);
}
END_TEST

static void count_call(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    ++*(int *)arg;
}

/* The ticket is taken while a waiter is being woken to claim its unit. */
START_TEST(a_ticket_that_is_granted_at_once_does_not_call_back)
{
    for (int round = 0; round < 100; round++) {
        fairsem_ticket_t ticket = { 0 };
        fairsem_stat_t stat;
        struct worker w = { 0 };
        fairsem_t sem;
        int calls = 0;

        init(&sem, 0, HOUR_NS);
        worker_queue(&w, &sem, 1, 1);
        for (int i = 0; i < round * 10; i++)
            moment();
        ck_assert_int_eq(fairsem_release(&sem, 2), 0);
        ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, count_call, &calls), 0);
        ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_GRANTED);
        ck_assert_int_eq(calls, 0);
        fairsem_stat(&sem, &stat);
        ck_assert_int_eq(stat.waits, 1);
        ck_assert_int_eq(worker_join(&w), 0);
        ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
        ck_assert_int_eq(fairsem_available(&sem), 1);
    }
}
END_TEST

/* With a ticket in the queue the order is strict, as without the flag.  Only a grant runs its
 * callback: no wait and no try does. */
START_TEST(no_thread_passes_while_a_ticket_is_in_the_queue)
{
    for (int round = 0; round < 100; round++) {
        fairsem_ticket_t ticket = { 0 };
        struct worker w = { 0 };
        fairsem_t sem;
        int calls = 0;

        init(&sem, 0, HOUR_NS);
        worker_queue(&w, &sem, 1, 1);
        ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, count_call, &calls), EINPROGRESS);
        for (int i = 0; i < round * 10; i++)
            moment();
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
        ck_assert_int_eq(fairsem_waiters(&sem), 1);
        ck_assert_int_eq(calls, 0);
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(calls, 1);
        ck_assert_int_eq(worker_join(&w), 0);
        ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    }
}
END_TEST

/* A request for no units asks only whether another request waits. */
START_TEST(a_request_for_no_units_passes_no_waiter)
{
    for (int round = 0; round < 100; round++) {
        struct worker w = { 0 };
        fairsem_t sem;

        init(&sem, 0, HOUR_NS);
        worker_queue(&w, &sem, 1, 1);
        for (int i = 0; i < round * 10; i++)
            moment();
        ck_assert_int_eq(fairsem_tryacquire(&sem, 0), EAGAIN);
        ck_assert_int_eq(fairsem_acquire_for(&sem, 0, 0), ETIMEDOUT);
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(fairsem_acquire(&sem, 0), 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        ck_assert_int_eq(worker_join(&w), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("bypass", the_flag_and_the_bound_need_each_other,
              a_running_thread_takes_a_unit_that_a_sleeper_has_not_claimed,
              a_waiter_is_not_passed_after_the_bound,
              a_small_request_passes_a_large_one_that_does_not_fit,
              a_large_request_is_not_passed_after_the_bound,
              waiters_keep_their_order_among_themselves, a_ticket_is_granted_by_the_release,
              a_woken_waiter_that_is_canceled_leaves_its_unit_to_the_next,
              no_thread_passes_during_a_pause, capacity_and_close_hold_while_threads_may_pass,
              one_unit_excludes_threads_and_orders_memory,
              a_ticket_that_is_granted_at_once_does_not_call_back,
              no_thread_passes_while_a_ticket_is_in_the_queue,
              a_request_for_no_units_passes_no_waiter);
}
