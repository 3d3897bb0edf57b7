/* SPDX-License-Identifier: MIT */
/*
 * t_priority.c - the lowest number is granted first, equal numbers in arrival order, and the head
 * holds up the queue with any number.  (U38: tokio 3242, tornado 1998, deadpool 272.)
 */
#include "askers.h"
#include "suite.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>

/* Queue askers of these priorities for one unit each.  Then release unit after unit: the askers
 * must be granted in this order, and none before its turn. */
static void granted_in_order(const int priorities[], const int order[], int count)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct asker a[8] = { { .how = { 0 } } };

    for (int i = 0; i < count; i++) {
        a[i].how.priority = priorities[i];
        asker_queue(&a[i], &sem, 1, i + 1);
    }
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(worker_join(&a[order[i]].w), 0);
        for (int k = i + 1; k < count; k++)
            ck_assert(worker_waits(&a[order[k]].w));
        ck_assert_int_eq(fairsem_waiters(&sem), count - i - 1);
    }
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}

START_TEST(the_lower_number_is_granted_first_and_equal_numbers_in_arrival_order)
{
    granted_in_order((const int[]){ 0, 0, 5, 5 }, (const int[]){ 0, 1, 2, 3 }, 4);
    granted_in_order((const int[]){ 5, 0, 5, 0, -3 }, (const int[]){ 4, 1, 3, 0, 2 }, 5);
    granted_in_order((const int[]){ 3, 2, 1, 0, 3, 2, 1, 0 },
                     (const int[]){ 3, 7, 2, 6, 1, 5, 0, 4 }, 8);
}
END_TEST

/* A comparison by subtraction would overflow here. */
START_TEST(any_int_is_a_priority)
{
    granted_in_order((const int[]){ INT_MAX, 0, INT_MIN, -1, INT_MAX - 1, INT_MIN + 1, 1, INT_MIN },
                     (const int[]){ 2, 7, 5, 3, 1, 6, 4, 0 }, 8);
}
END_TEST

START_TEST(an_acquire_without_a_priority_has_priority_zero)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct asker worse = { .how = { .priority = 1 } }, better = { .how = { .priority = -1 } };
    struct worker plain = { 0 };

    asker_queue(&worse, &sem, 1, 1);
    worker_queue(&plain, &sem, 1, 2);
    asker_queue(&better, &sem, 1, 3);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&better.w), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&plain), 0);
    ck_assert(worker_waits(&worse.w));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&worse.w), 0);
}
END_TEST

/* temporal 9286: a newcomer that is better than all waiters, and fits, must not wait behind those
 * that it would pass anyway.  A newcomer that is only as good as the waiters must wait. */
START_TEST(a_newcomer_better_than_all_waiters_is_granted_at_once_if_it_fits)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(5);
    fairsem_wait_t better = { .priority = 4 };
    fairsem_units_t units = { 0 };
    fairsem_ticket_t ticket = { 0 };
    struct asker large = { .how = { .priority = 5 } }, equal = large;
    fairsem_stat_t stat;

    asker_queue(&large, &sem, 8, 1);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &better), 0);
    ck_assert_int_eq(fairsem_available(&sem), 4);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 1, &better), 0);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 4, NULL, NULL), 0);
    ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_available(&sem), 1);

    asker_queue(&equal, &sem, 1, 2);
    ck_assert(worker_waits(&equal.w) && worker_waits(&large.w));
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
    ck_assert_int_eq(stat.waits, 2);    /* those granted at once have not waited */

    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_units_release(&units), 0);
    ck_assert_int_eq(fairsem_release(&sem, 5), 0);
    ck_assert_int_eq(worker_join(&large.w), 0);
    ck_assert(worker_waits(&equal.w));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&equal.w), 0);
}
END_TEST

/* It becomes the head, and holds up the queue: the waiters behind it must not get the units that
 * are too few for it, although they came before and would fit. */
START_TEST(a_better_newcomer_that_does_not_fit_holds_up_the_queue)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(3);
    struct asker first = { .how = { .priority = 5 } }, better = { .how = { .priority = 0 } };
    struct asker worse = { .how = { .priority = 1 } };

    asker_queue(&first, &sem, 4, 1);
    asker_queue(&better, &sem, 6, 2);
    asker_queue(&worse, &sem, 1, 3);    /* better than the first, but not than the head */
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(fairsem_available(&sem), 5);
    ck_assert_int_eq(fairsem_waiters(&sem), 3);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&better.w), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 2);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&worse.w), 0);
    ck_assert(worker_waits(&first.w));
    ck_assert_int_eq(fairsem_release(&sem, 4), 0);
    ck_assert_int_eq(worker_join(&first.w), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

/* U6: a try has no priority.  Even the worst waiter keeps it out. */
START_TEST(no_try_passes_a_waiter_of_any_priority)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(4);
    struct asker worst = { .how = { .priority = INT_MAX } };
    fairsem_units_t units = { 0 };

    asker_queue(&worst, &sem, 8, 1);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 0), EAGAIN);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, 4), 0);
    ck_assert_int_eq(fairsem_units_tryacquire(&units, &sem, 1), EAGAIN);
    ck_assert(fairsem_would_block(&sem, 1));
    ck_assert(fairsem_would_block(&sem, 0));
    ck_assert_int_eq(fairsem_available(&sem), 4);
    ck_assert_int_eq(fairsem_release(&sem, 4), 0);
    ck_assert_int_eq(worker_join(&worst.w), 0);
}
END_TEST

/* A full queue refuses only a request that would wait. */
START_TEST(a_full_queue_refuses_a_better_newcomer_only_if_it_does_not_fit)
{
    fairsem_t sem;
    fairsem_attr_t attr = { .max_waiters = 1 };
    fairsem_wait_t better = { .priority = -1 };
    struct asker a = { .how = { 0 } };

    ck_assert_int_eq(fairsem_init(&sem, 2, &attr), 0);
    asker_queue(&a, &sem, 3, 1);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 3, &better), ENOBUFS);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 2, &better), 0);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &better), ENOBUFS);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    ck_assert_int_eq(worker_join(&a.w), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* ---------------------------------------------------------------- a better head leaves */

/* `head` asks for more than is free.  `fits` came before it, but waits behind it. */
struct pair {
    fairsem_t    sem;
    struct asker head;
    struct asker fits;
};

/* False: the head timed out before both waited. */
static bool hold_up(struct pair *p)
{
    atomic_store(&p->head.w.result, STILL_WAITING);
    p->head.how.priority = -1;
    asker_queue(&p->fits, &p->sem, 2, 1);
    asker_start(&p->head, &p->sem, 8);
    while (fairsem_waiters(&p->sem) != 2 && worker_waits(&p->head.w))
        moment();
    fairsem_release(&p->sem, 5);
    return fairsem_waiters(&p->sem) == 2;
}

/* U10, U11: without any release. */
static void fits_is_granted(struct pair *p)
{
    ck_assert_int_eq(worker_join(&p->fits.w), 0);
    ck_assert_int_eq(fairsem_waiters(&p->sem), 0);
    ck_assert_int_eq(fairsem_available(&p->sem), 3);
    ck_assert_int_eq(fairsem_destroy(&p->sem), 0);
}

START_TEST(when_a_better_head_times_out_the_waiters_it_held_up_are_granted)
{
    for (int64_t ms = 50;; ms *= 2) {
        struct timespec deadline = from_now(CLOCK_MONOTONIC, ms);
        struct pair p = { .sem = FAIRSEM_INITIALIZER(0) };
        bool held_up;

        p.head.how = (fairsem_wait_t){ .clock = CLOCK_MONOTONIC, .deadline = &deadline };
        held_up = hold_up(&p);
        ck_assert_int_eq(worker_join(&p.head.w), ETIMEDOUT);
        fits_is_granted(&p);
        if (held_up)
            return;
    }
}
END_TEST

START_TEST(when_a_better_head_is_canceled_by_its_token_the_waiters_it_held_up_are_granted)
{
    struct pair p = { .sem = FAIRSEM_INITIALIZER(0) };
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;

    p.head.how.token = &token;
    ck_assert(hold_up(&p));
    ck_assert_int_eq(fairsem_token_cancel(&token, 0), 0);
    ck_assert_int_eq(fairsem_waiters(&p.sem), 0);
    ck_assert_int_eq(fairsem_available(&p.sem), 3);
    ck_assert_int_eq(worker_join(&p.head.w), ECANCELED);
    fits_is_granted(&p);
}
END_TEST

START_TEST(when_the_thread_of_a_better_head_is_canceled_the_waiters_it_held_up_are_granted)
{
    struct pair p = { .sem = FAIRSEM_INITIALIZER(0) };
    void *result;

    ck_assert(hold_up(&p));
    ck_assert_int_eq(pthread_cancel(p.head.w.thread), 0);
    pthread_join(p.head.w.thread, &result);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    fits_is_granted(&p);
}
END_TEST

/* ---------------------------------------------------------------- against a sorted list */

/* The best of those that wait, the earliest among equals; -1: none waits. */
static int best_waiter(const int priority[], const bool waits[], int count)
{
    int best = -1;

    for (int i = 0; i < count; i++) {
        if (waits[i] && (best < 0 || priority[i] < priority[best]))
            best = i;
    }
    return best;
}

/* Tickets, because they need no threads.  Some leave from anywhere in the queue. */
START_TEST(any_queue_is_granted_by_priority_and_then_by_arrival)
{
    enum { COUNT = 150 };
    static fairsem_ticket_t tickets[COUNT];
    uint32_t random = 12345;

    for (int round = 0; round < 30; round++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        int priority[COUNT];
        bool waits[COUNT];

        for (int i = 0; i < COUNT; i++) {
            random = random * 1664525 + 1013904223;
            priority[i] = (int)(random >> 20) % (1 + round) - round / 2;
            waits[i] = random >> 28 != 0;
            ck_assert_int_eq(fairsem_ticket_take(&tickets[i], &sem, 1, priority[i], NULL, NULL),
                             EINPROGRESS);
        }
        for (int i = 0; i < COUNT; i++) {
            if (!waits[i])
                ck_assert_int_eq(fairsem_ticket_return(&tickets[i]), 0);
        }
        for (int i; (i = best_waiter(priority, waits, COUNT)) >= 0; waits[i] = false) {
            ck_assert_int_eq(fairsem_ticket_state(&tickets[i]), FAIRSEM_TICKET_WAITING);
            ck_assert_int_eq(fairsem_release(&sem, 1), 0);
            ck_assert_int_eq(fairsem_available(&sem), 0);
            ck_assert_int_eq(fairsem_ticket_state(&tickets[i]), FAIRSEM_TICKET_GRANTED);
        }
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        for (int i = 0; i < COUNT; i++)
            ck_assert_int_eq(fairsem_ticket_return(&tickets[i]), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("priority", the_lower_number_is_granted_first_and_equal_numbers_in_arrival_order,
              any_int_is_a_priority, an_acquire_without_a_priority_has_priority_zero,
              a_newcomer_better_than_all_waiters_is_granted_at_once_if_it_fits,
              a_better_newcomer_that_does_not_fit_holds_up_the_queue,
              no_try_passes_a_waiter_of_any_priority,
              a_full_queue_refuses_a_better_newcomer_only_if_it_does_not_fit,
              when_a_better_head_times_out_the_waiters_it_held_up_are_granted,
              when_a_better_head_is_canceled_by_its_token_the_waiters_it_held_up_are_granted,
              when_the_thread_of_a_better_head_is_canceled_the_waiters_it_held_up_are_granted,
              any_queue_is_granted_by_priority_and_then_by_arrival);
}
