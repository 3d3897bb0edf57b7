/* SPDX-License-Identifier: MIT */
/* t_close.c - fairsem_close: every wait returns, once, with the reason. */
#include "askers.h"
#include "stress.h"
#include "suite.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define REASON 4711

static void never_called(void *arg)
{
    *(int *)arg = 1;
}

/* Call everything that takes units on a closed semaphore. */
static void everything_that_takes_returns(fairsem_t *sem, int reason)
{
    struct timespec later = from_now(CLOCK_MONOTONIC, 3600 * 1000);
    struct timespec past = from_now(CLOCK_REALTIME, -1000);
    fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .deadline = &later, .priority = INT_MIN };
    fairsem_units_t units = { 0 };
    fairsem_ticket_t ticket = { 0 };
    int called = 0;

    ck_assert_int_eq(fairsem_closed(sem), reason);
    ck_assert_int_eq(fairsem_acquire(sem, 1), reason);
    ck_assert_int_eq(fairsem_acquire(sem, 0), reason);
    ck_assert_int_eq(fairsem_tryacquire(sem, 1), reason);
    ck_assert_int_eq(fairsem_tryacquire(sem, 0), reason);
    ck_assert_int_eq(fairsem_acquire_for(sem, 1, 1), reason);
    ck_assert_int_eq(fairsem_acquire_for(sem, 1, 0), reason);
    ck_assert_int_eq(fairsem_acquire_until(sem, 1, CLOCK_MONOTONIC, &later), reason);
    ck_assert_int_eq(fairsem_acquire_until(sem, 1, CLOCK_REALTIME, &past), reason);
    ck_assert_int_eq(fairsem_acquire_with(sem, 1, NULL), reason);
    ck_assert_int_eq(fairsem_acquire_with(sem, 1, &how), reason);
    ck_assert_int_eq(fairsem_units_acquire(&units, sem, 1, NULL), reason);
    ck_assert_int_eq(fairsem_units_tryacquire(&units, sem, 1), reason);
    ck_assert_int_eq(units.n, 0);
    ck_assert_int_eq(fairsem_with(sem, 1, never_called, &called), reason);
    ck_assert_int_eq(called, 0);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, sem, 1, 0, NULL, NULL), reason);
    ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_IDLE);
    ck_assert_int_eq(fairsem_tryacquire_upto(sem, 9), 0);
    ck_assert(!fairsem_would_block(sem, 0));
    ck_assert(!fairsem_would_block(sem, 1));
    ck_assert(!fairsem_would_block(sem, 1000));
    ck_assert_int_eq(fairsem_waiters(sem), 0);
}

/* U46 (Seastar: waiters want the reason).  When close returns, the queue is empty. */
START_TEST(every_waiter_and_every_later_acquire_gets_the_reason)
{
    static const int reasons[][2] = { { 0, ESHUTDOWN }, { EPIPE, EPIPE }, { 1, 1 },
                                      { INT_MAX, INT_MAX } };

    for (int i = 0; i < 4; i++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(3);
        struct worker w[3] = { { 0 } };
        struct timespec later = from_now(CLOCK_REALTIME, 3600 * 1000);

        ck_assert_int_eq(fairsem_closed(&sem), 0);
        w[1].clock = CLOCK_REALTIME;
        w[1].deadline = &later;
        worker_queue(&w[0], &sem, 4, 1);
        worker_queue(&w[1], &sem, 1, 2);
        worker_queue(&w[2], &sem, 0, 3);
        ck_assert_int_eq(fairsem_close(&sem, reasons[i][0]), 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        for (int k = 0; k < 3; k++)
            ck_assert_int_eq(worker_join(&w[k]), reasons[i][1]);
        everything_that_takes_returns(&sem, reasons[i][1]);
        ck_assert_int_eq(fairsem_available(&sem), 3);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

START_TEST(the_first_reason_stays)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);

    ck_assert_int_eq(fairsem_close(&sem, -1), EINVAL);
    ck_assert_int_eq(fairsem_close(&sem, INT_MIN), EINVAL);
    ck_assert_int_eq(fairsem_closed(&sem), 0);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_close(&sem, REASON), 0);
    ck_assert_int_eq(fairsem_close(&sem, EPIPE), EALREADY);
    ck_assert_int_eq(fairsem_close(&sem, REASON), EALREADY);
    ck_assert_int_eq(fairsem_close(&sem, 0), EALREADY);
    everything_that_takes_returns(&sem, REASON);
}
END_TEST

struct closer {
    pthread_t    thread;
    fairsem_t   *sem;
    _Atomic int *go;
    int          reason, result;
};

static void *close_it(void *arg)
{
    struct closer *c = arg;

    while (!atomic_load(c->go))
        moment();
    c->result = fairsem_close(c->sem, c->reason);
    return NULL;
}

START_TEST(of_several_threads_that_close_at_once_one_succeeds_and_its_reason_stays)
{
    for (int round = 0; round < stress_times(50); round++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        struct closer c[3];
        struct worker w = { 0 };
        _Atomic int go = 0;
        int winners = 0, reason = 0;

        worker_queue(&w, &sem, 1, 1);
        for (int i = 0; i < 3; i++) {
            c[i] = (struct closer){ .sem = &sem, .go = &go, .reason = REASON + i };
            start_thread(&c[i].thread, close_it, &c[i]);
        }
        atomic_store(&go, 1);
        for (int i = 0; i < 3; i++) {
            pthread_join(c[i].thread, NULL);
            if (c[i].result == 0) {
                winners++;
                reason = c[i].reason;
            } else {
                ck_assert_int_eq(c[i].result, EALREADY);
            }
        }
        ck_assert_int_eq(winners, 1);
        ck_assert_int_eq(fairsem_closed(&sem), reason);
        ck_assert_int_eq(worker_join(&w), reason);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

/* ---------------------------------------------------------------- U34 */

static fairsem_t subject;       /* bounded, capacity 9 */

static void do_release(void) { fairsem_release(&subject, 1); }
static void do_release_too_much(void) { fairsem_release(&subject, 100); }
static void do_consume(void) { fairsem_consume(&subject, 2); }
static void do_run_into_debt(void) { fairsem_consume(&subject, 100); }
static void do_grow(void) { fairsem_set_capacity(&subject, 50); }
static void do_shrink(void) { fairsem_set_capacity(&subject, 1); }
static void do_close_again(void) { fairsem_close(&subject, EPIPE); }
static void do_acquire(void) { ck_assert_int_eq(fairsem_acquire(&subject, 1), REASON); }
static void do_try(void) { ck_assert_int_eq(fairsem_tryacquire(&subject, 1), REASON); }
static void do_upto(void) { ck_assert_int_eq(fairsem_tryacquire_upto(&subject, 3), 0); }
static void do_inspect(void)
{
    fairsem_stat_t stat;

    fairsem_stat(&subject, &stat);
    fairsem_would_block(&subject, 1);
}

static void do_pause_and_resume(void)
{
    fairsem_set_capacity(&subject, 0);
    fairsem_set_capacity(&subject, 9);
}

static void do_repay(void)
{
    fairsem_consume(&subject, 20);
    fairsem_release(&subject, 20);
}

static void do_guard(void)
{
    fairsem_units_t units = { 0 };

    ck_assert_int_eq(fairsem_units_adopt(&units, &subject, 2), 0);
    fairsem_units_return(&units, 1);
    fairsem_units_release(&units);
}

static void do_ticket(void)
{
    fairsem_ticket_t ticket = { 0 };

    ck_assert_int_eq(fairsem_ticket_take(&ticket, &subject, 1, 0, NULL, NULL), REASON);
    fairsem_ticket_return(&ticket);
}

/* U34 (tokio 8020: the bit "closed" was in the counter, and another operation cleared it). */
START_TEST(nothing_opens_a_closed_semaphore)
{
    static void (*const mutators[])(void) = {
        do_release, do_release_too_much, do_consume, do_run_into_debt, do_grow, do_shrink,
        do_close_again, do_acquire, do_try, do_upto, do_inspect, do_pause_and_resume, do_repay,
        do_guard, do_ticket,
    };
    fairsem_attr_t attr = { .capacity = 9 };

    for (size_t i = 0; i < sizeof mutators / sizeof mutators[0]; i++) {
        ck_assert_int_eq(fairsem_init(&subject, 5, &attr), 0);
        ck_assert_int_eq(fairsem_close(&subject, REASON), 0);
        mutators[i]();
        everything_that_takes_returns(&subject, REASON);
        mutators[i]();
        everything_that_takes_returns(&subject, REASON);
        ck_assert_int_eq(fairsem_destroy(&subject), 0);
    }
}
END_TEST

/* ---------------------------------------------------------------- units after the close */

/* Clean-up code must be able to release after a close.  The units come back and are counted; no
 * request gets them. */
START_TEST(a_release_after_close_is_accepted_and_grants_nothing)
{
    fairsem_t sem;
    fairsem_attr_t attr = { .capacity = 4 };
    fairsem_units_t units = { 0 };

    ck_assert_int_eq(fairsem_init(&sem, 4, &attr), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 3, NULL), 0);
    ck_assert_int_eq(fairsem_close(&sem, 0), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_units_return(&units, 1), 0);
    ck_assert_int_eq(fairsem_units_release(&units), 0);
    ck_assert_int_eq(fairsem_available(&sem), 4);
    ck_assert_int_eq(fairsem_release(&sem, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_available(&sem), 4);
    everything_that_takes_returns(&sem, ESHUTDOWN);
    ck_assert_int_eq(fairsem_available(&sem), 4);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U45: the release grants, before the close; the waiter may not have run by then. */
START_TEST(a_waiter_granted_before_the_close_keeps_its_units)
{
    for (int round = 0; round < stress_times(200); round++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        struct worker granted = { 0 }, closed = { 0 };

        worker_queue(&granted, &sem, 2, 1);
        worker_queue(&closed, &sem, 1, 2);
        fairsem_release(&sem, 2);
        fairsem_close(&sem, REASON);
        ck_assert_int_eq(worker_join(&granted), 0);
        ck_assert_int_eq(worker_join(&closed), REASON);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(fairsem_release(&sem, 2), 0);
        ck_assert_int_eq(fairsem_available(&sem), 2);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

/* The waits that the close ended no longer use the token. */
START_TEST(a_token_is_free_when_a_close_has_ended_its_waits)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct asker a[3];

    for (int i = 0; i < 3; i++) {
        a[i] = (struct asker){ .how = { .token = &token } };
        asker_queue(&a[i], &sem, 1, i + 1);
    }
    ck_assert_int_eq(fairsem_close(&sem, REASON), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(worker_join(&a[i].w), REASON);
    ck_assert_int_eq(fairsem_token_reason(&token), 0);
    ck_assert_int_eq(fairsem_token_cancel(&token, 0), 0);
    ck_assert_int_eq(fairsem_token_destroy(&token), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* ---------------------------------------------------------------- U44 */

enum { CROWD = 100, UNITS_GIVEN = 20 };

struct guest {
    pthread_t  thread;
    fairsem_t *sem;
    int64_t    patience_ns;     /* 0: for ever */
    _Atomic int returned;       /* how often; r/o after join, like the result */
    int        result;
};

static void *be_guest(void *arg)
{
    struct guest *g = arg;

    g->result = g->patience_ns == 0 ? fairsem_acquire(g->sem, 1)
                                    : fairsem_acquire_for(g->sem, 1, g->patience_ns);
    atomic_fetch_add(&g->returned, 1);
    return NULL;
}

/* All that have a deadline: on a busy machine it passes for some of them before they wait. */
static bool have_returned(struct guest guests[])
{
    for (int i = 1; i < CROWD; i += 2) {
        if (atomic_load(&guests[i].returned) == 0)
            return false;
    }
    return true;
}

/* U44 (.NET 59639, vs-threading 592: waiters of a disposed semaphore never return, or use the
 * list that was cleared).  Of a hundred waits some are granted, some time out during the close,
 * and the rest are closed.  Each returns once, with one result, and the sums agree. */
START_TEST(waiters_that_time_out_during_the_close_return_once_with_one_result)
{
    for (int round = 0; round < stress_times(10); round++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        static struct guest guests[CROWD];
        int granted = 0, timed_out = 0, closed = 0;
        fairsem_stat_t stat;

        memset(guests, 0, sizeof guests);
        for (int i = 0; i < CROWD; i++) {
            guests[i].sem = &sem;
            guests[i].patience_ns = i % 2 == 0 ? 0 : 100000 * (i + 1);
            start_thread(&guests[i].thread, be_guest, &guests[i]);
            if (i % 5 == 4)
                ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        }
        /* So far, waiters have left only by a grant or a time-out: the close finds a queue. */
        while (fairsem_stat(&sem, &stat) == 0 && stat.timeouts < round + 1
               && !have_returned(guests))
            moment();
        ck_assert_int_eq(fairsem_close(&sem, REASON), 0);
        for (int i = 0; i < CROWD; i++) {
            pthread_join(guests[i].thread, NULL);
            ck_assert_int_eq(guests[i].returned, 1);
            granted += guests[i].result == 0;
            timed_out += guests[i].result == ETIMEDOUT;
            closed += guests[i].result == REASON;
        }
        ck_assert_int_eq(granted + timed_out + closed, CROWD);
        ck_assert_int_gt(closed, 0);
        ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
        ck_assert_int_eq(stat.waiters, 0);
        ck_assert_int_eq(stat.waits, stat.grants + stat.timeouts + stat.cancels);
        /* A call that came after the close, or found a unit free, has not waited. */
        ck_assert_int_le(stat.grants, granted);
        ck_assert_int_le(stat.timeouts, timed_out);
        ck_assert_int_le(stat.cancels, closed);
        ck_assert_int_eq(stat.available, UNITS_GIVEN - granted);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("close", every_waiter_and_every_later_acquire_gets_the_reason, the_first_reason_stays,
              of_several_threads_that_close_at_once_one_succeeds_and_its_reason_stays,
              nothing_opens_a_closed_semaphore,
              a_release_after_close_is_accepted_and_grants_nothing,
              a_waiter_granted_before_the_close_keeps_its_units,
              a_token_is_free_when_a_close_has_ended_its_waits,
              waiters_that_time_out_during_the_close_return_once_with_one_result);
}
