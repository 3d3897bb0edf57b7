/* SPDX-License-Identifier: MIT */
/* t_many.c - more requests than a scenario has: hundreds of threads, and many more tickets. */
#include "askers.h"
#include "suite.h"

#include <errno.h>

/* Returns the waiter with the best priority, the earliest among equals, or -1 if none waits. */
static int best_waiter(const int priority[], const bool waits[], int count)
{
    int best = -1;

    for (int i = 0; i < count; i++) {
        if (waits[i] && (best < 0 || priority[i] < priority[best]))
            best = i;
    }
    return best;
}

/* The requests are tickets, which need no threads.  Some are returned from anywhere in the queue. */
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

/* More waiters than the releaser's wake queue can list. */
START_TEST(one_release_grants_hundreds_of_threads)
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

/* Every second ticket is returned while it waits. */
START_TEST(a_hundred_thousand_tickets_can_wait_in_one_queue)
{
    enum { MANY = 100000 };
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t *tickets = aligned_alloc(_Alignof(fairsem_ticket_t), MANY * sizeof *tickets);
    int granted = 0;

    ck_assert_ptr_nonnull(tickets);
    for (int i = 0; i < MANY; i++) {
        tickets[i] = (fairsem_ticket_t){ { 0 } };
        if (fairsem_ticket_take(&tickets[i], &sem, 1, i % 3, NULL, NULL) != EINPROGRESS)
            ck_abort_msg("take failed");
    }
    ck_assert_int_eq(fairsem_waiters(&sem), MANY);
    for (int i = 0; i < MANY; i += 2) {
        if (fairsem_ticket_return(&tickets[i]) != 0)
            ck_abort_msg("return failed");
    }
    ck_assert_int_eq(fairsem_waiters(&sem), MANY / 2);
    ck_assert_int_eq(fairsem_release(&sem, MANY / 2 - 1), 0);
    for (int i = 1; i < MANY; i += 2)
        granted += fairsem_ticket_state(&tickets[i]) == FAIRSEM_TICKET_GRANTED;
    ck_assert_int_eq(granted, MANY / 2 - 1);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    for (int i = 1; i < MANY; i += 2) {
        if (fairsem_ticket_return(&tickets[i]) != 0)
            ck_abort_msg("return failed");
    }
    ck_assert_int_eq(fairsem_available(&sem), MANY / 2 - 1);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
    free(tickets);
}
END_TEST

START_TEST(one_token_ends_hundreds_of_waits_on_several_semaphores)
{
    enum { COUNT = 300, SEMAPHORES = 3 };
    fairsem_t sems[SEMAPHORES] = { FAIRSEM_INITIALIZER(0), FAIRSEM_INITIALIZER(5),
                                   FAIRSEM_INITIALIZER(0) };
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct asker *a = calloc(COUNT, sizeof *a);
    struct worker bystander = { 0 };

    for (int i = 0; i < COUNT; i++) {
        a[i].how.token = &token;
        a[i].how.priority = i % 7;
        asker_start(&a[i], &sems[i % SEMAPHORES], 6);
    }
    for (int i = 0; i < SEMAPHORES; i++)
        await_waiters(&sems[i], COUNT / SEMAPHORES);
    worker_queue(&bystander, &sems[0], 1, COUNT / SEMAPHORES + 1);
    ck_assert_int_eq(fairsem_token_destroy(&token), EBUSY);
    ck_assert_int_eq(fairsem_token_reason(&token), 0);

    ck_assert_int_eq(fairsem_token_cancel(&token, 0), 0);
    ck_assert_int_eq(fairsem_waiters(&sems[0]), 1);
    ck_assert_int_eq(fairsem_waiters(&sems[1]), 0);
    ck_assert_int_eq(fairsem_waiters(&sems[2]), 0);
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(worker_join(&a[i].w), ECANCELED);
    ck_assert_int_eq(fairsem_token_destroy(&token), 0);
    ck_assert(worker_waits(&bystander));
    ck_assert_int_eq(fairsem_available(&sems[1]), 5);
    ck_assert_int_eq(fairsem_release(&sems[0], 1), 0);
    ck_assert_int_eq(worker_join(&bystander), 0);
    for (int i = 0; i < SEMAPHORES; i++)
        ck_assert_int_eq(fairsem_destroy(&sems[i]), 0);
    free(a);
}
END_TEST

/* U22 (cats-effect 4434, tornado 1366: O(n^2), dead entries).  No entry stays in the queue. */
START_TEST(hundreds_that_time_out_together_leave_an_empty_queue)
{
    enum { COUNT = 500 };
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    struct worker *w = calloc(COUNT, sizeof *w);
    struct timespec deadline = from_now(CLOCK_MONOTONIC, 400);

    for (int i = 0; i < COUNT; i++) {
        w[i].clock = CLOCK_MONOTONIC;
        w[i].deadline = &deadline;
        worker_start(&w[i], &sem, 2);
    }
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(worker_join(&w[i]), ETIMEDOUT);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), 0);
    free(w);
}
END_TEST

int main(void)
{
    RUN_SUITE("many", any_queue_is_granted_by_priority_and_then_by_arrival,
              one_release_grants_hundreds_of_threads, a_hundred_thousand_tickets_can_wait_in_one_queue,
              one_token_ends_hundreds_of_waits_on_several_semaphores,
              hundreds_that_time_out_together_leave_an_empty_queue);
}
