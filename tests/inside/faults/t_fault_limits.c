/* SPDX-License-Identifier: MIT */
/*
 * t_fault_limits.c - several limits at once: the largest requests, the largest max_waiters, the first and the
 * last priority.  (Scenarios and t_stat.c test each limit alone.)
 */
#include "askers.h"
#include "suite.h"

#include <errno.h>
#include <limits.h>

#define LARGEST FAIRSEM_MAX_UNITS
#define WAITERS 6

static void queue_waiters(struct asker a[], fairsem_t *sem, _Atomic int *service)
{
    static const int priority[WAITERS] = { INT_MAX, INT_MIN, 0, INT_MAX, INT_MIN, 0 };

    for (int i = 0; i < WAITERS; i++) {
        a[i] = (struct asker){ .w.service = service, .how.priority = priority[i] };
        asker_queue(&a[i], sem, LARGEST, i + 1);
    }
}

START_TEST(the_largest_requests_are_granted_one_by_one_in_order)
{
    static const int order[WAITERS] = { 1, 4, 2, 5, 0, 3 };
    const fairsem_attr_t attr = { .capacity = LARGEST, .max_waiters = INT64_MAX };
    struct asker a[WAITERS];
    _Atomic int service = 0;
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, LARGEST - 1, &attr), 0);
    queue_waiters(a, &sem, &service);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 0), EAGAIN);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, INT64_MAX), 0);
    ck_assert_int_eq(fairsem_release(&sem, 2), EOVERFLOW);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    for (int i = 0; i < WAITERS; i++) {
        ck_assert_int_eq(worker_join(&a[order[i]].w), 0);
        ck_assert_int_eq(a[order[i]].w.place, i);
        ck_assert_int_eq(fairsem_waiters(&sem), WAITERS - 1 - i);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(fairsem_release(&sem, LARGEST), 0);
    }
    ck_assert_int_eq(fairsem_available(&sem), LARGEST);
    ck_assert_int_eq(fairsem_release(&sem, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_tryacquire_upto(&sem, INT64_MAX), LARGEST);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* The debt is the largest possible, and each waiter requests the largest number of units. */
START_TEST(waiters_wait_until_the_largest_debt_is_paid)
{
    struct asker a[WAITERS];
    _Atomic int service = 0;
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_stat_t stat;

    queue_waiters(a, &sem, &service);
    ck_assert_int_eq(fairsem_consume(&sem, LARGEST), 0);
    ck_assert_int_eq(fairsem_consume(&sem, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_release(&sem, LARGEST), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), WAITERS);
    ck_assert_int_eq(service, 0);
    for (int i = 0; i < WAITERS; i++)
        ck_assert_int_eq(fairsem_release(&sem, LARGEST), 0);
    for (int i = 0; i < WAITERS; i++)
        ck_assert_int_eq(worker_join(&a[i].w), 0);
    fairsem_stat(&sem, &stat);
    ck_assert_int_eq(stat.available, 0);
    ck_assert_int_eq(stat.grants, WAITERS);
    ck_assert_int_eq(stat.waiters, 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* Two tickets hold 2^60 units each, which can never be free together. */
START_TEST(units_of_returned_tickets_cannot_overflow_the_count)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket[2] = { { { 0 } }, { { 0 } } };

    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fairsem_ticket_take(&ticket[i], &sem, LARGEST, INT_MAX, NULL, NULL),
                         EINPROGRESS);
        ck_assert_int_eq(fairsem_release(&sem, LARGEST), 0);
        ck_assert_int_eq(fairsem_ticket_state(&ticket[i]), FAIRSEM_TICKET_GRANTED);
    }
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fairsem_ticket_return(&ticket[i]), 0);
        ck_assert_int_eq(fairsem_available(&sem), LARGEST);
    }
    ck_assert_int_eq(fairsem_tryacquire(&sem, LARGEST), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("fault limits", the_largest_requests_are_granted_one_by_one_in_order,
              waiters_wait_until_the_largest_debt_is_paid,
              units_of_returned_tickets_cannot_overflow_the_count);
}
