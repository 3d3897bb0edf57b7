/* SPDX-License-Identifier: MIT */
/*
 * t_callbacks.c - callbacks caused by a callback run one after the other, not nested.  A callback may use
 * its own ticket, and tickets whose callbacks run at the same time.
 */
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- one after the other */

static _Thread_local int depth;
static int deepest, called, out_of_order;
static fairsem_t chain_sem;

enum { CHAIN = 20000, SMALL_STACK = 128 * 1024 };
static fairsem_ticket_t chain[CHAIN];

/* Claim the unit and release it: the release grants the next ticket. */
static void hand_on(fairsem_ticket_t *ticket, void *arg)
{
    fairsem_units_t units = { 0 };

    (void)arg;
    depth++;
    deepest = depth > deepest ? depth : deepest;
    out_of_order += ticket != &chain[called];
    called++;
    if (fairsem_ticket_claim(ticket, &units) != 0 || fairsem_units_release(&units) != 0)
        out_of_order = CHAIN;
    depth--;
}

static void *release_one(void *arg)
{
    fairsem_release(arg, 1);
    return NULL;
}

/* Nested callbacks would use more of the releaser's stack with each ticket. */
START_TEST(a_chain_of_callbacks_needs_the_stack_of_one_callback)
{
    pthread_attr_t attr;
    pthread_t thread;

    chain_sem = (fairsem_t)FAIRSEM_INITIALIZER(0);
    for (int i = 0; i < CHAIN; i++) {
        if (fairsem_ticket_take(&chain[i], &chain_sem, 1, 0, hand_on, NULL) != EINPROGRESS)
            ck_abort_msg("take");
    }
    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attr, SMALL_STACK), 0);
    ck_assert_int_eq(pthread_create(&thread, &attr, release_one, &chain_sem), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
    ck_assert_int_eq(called, CHAIN);
    ck_assert_int_eq(out_of_order, 0);
    ck_assert_int_eq(deepest, 1);
    ck_assert_int_eq(fairsem_available(&chain_sem), 1);
}
END_TEST

/* ---------------------------------------------------------------- exactly once, or not at all */

struct counted {
    fairsem_t   sem;
    _Atomic int calls, stop;
};

static void count_call(fairsem_ticket_t *ticket, void *arg)
{
    struct counted *c = arg;

    (void)ticket;
    atomic_fetch_add(&c->calls, 1);
}

static void *release_all_the_time(void *arg)
{
    struct counted *c = arg;

    while (!atomic_load(&c->stop)) {
        fairsem_release(&c->sem, 1);
        while (fairsem_available(&c->sem) > 0 && !atomic_load(&c->stop))
            moment();
    }
    return NULL;
}

/*
 * The other thread may release at any moment of the take, so a ticket is often GRANTED when the take returns.
 * Only the result of the take says whether the ticket was enqueued before, so that its callback runs.
 */
START_TEST(take_says_whether_the_callback_will_run)
{
    enum { ROUNDS = 5000 };
    struct counted c = { .sem = FAIRSEM_INITIALIZER(0) };
    int at_once = 0, waited = 0, left;
    pthread_t thread;

    start_thread(&thread, release_all_the_time, &c);
    for (int i = 0; i < ROUNDS; i++) {
        fairsem_ticket_t ticket = { 0 };
        fairsem_units_t units = { 0 };
        int before = atomic_load(&c.calls);
        int result = fairsem_ticket_take(&ticket, &c.sem, 1, 0, count_call, &c);

        if (result == EINPROGRESS) {
            waited++;
            while (atomic_load(&c.calls) == before)
                moment();
        } else if (result == 0) {
            at_once++;
        } else {
            ck_abort_msg("take: %d", result);
        }
        if (fairsem_ticket_claim(&ticket, &units) != 0)
            ck_abort_msg("claim");
        fairsem_ticket_return(&ticket);
    }
    atomic_store(&c.stop, 1);
    left = fairsem_acquire_for(&c.sem, 1, 0);
    pthread_join(thread, NULL);
    ck_assert(left == 0 || left == ETIMEDOUT);
    ck_assert_int_eq(atomic_load(&c.calls), waited);
    ck_assert_int_eq(at_once + waited, ROUNDS);
}
END_TEST

/* ---------------------------------------------------------------- returns in callbacks */

enum { CIRCLE = 3 };
static fairsem_t        sems[CIRCLE];
static fairsem_ticket_t tickets[CIRCLE];
static _Atomic int      inside, returned;
static int              circle;

static void return_the_next(fairsem_ticket_t *ticket, void *arg)
{
    (void)arg;
    atomic_fetch_add(&inside, 1);
    while (atomic_load(&inside) < circle)
        moment();
    fairsem_ticket_return(&tickets[(ticket - tickets + 1) % circle]);
    atomic_fetch_add(&returned, 1);
}

/* If each return waited for the next callback, no callback could end. */
START_TEST(callbacks_that_return_each_others_tickets_do_not_deadlock)
{
    for (circle = 2; circle <= CIRCLE; circle++) {
        for (int round = 0; round < stress_times(50); round++) {
            pthread_t thread[CIRCLE];

            inside = returned = 0;
            for (int i = 0; i < circle; i++) {
                sems[i] = (fairsem_t)FAIRSEM_INITIALIZER(0);
                ck_assert_int_eq(fairsem_ticket_take(&tickets[i], &sems[i], 1, 0, return_the_next,
                                                     NULL), EINPROGRESS);
            }
            for (int i = 0; i < circle; i++)
                start_thread(&thread[i], release_one, &sems[i]);
            for (int i = 0; i < circle; i++)
                pthread_join(thread[i], NULL);
            ck_assert_int_eq(returned, circle);
            for (int i = 0; i < circle; i++) {
                ck_assert_int_eq(fairsem_ticket_state(&tickets[i]), FAIRSEM_TICKET_IDLE);
                ck_assert_int_eq(fairsem_available(&sems[i]), 1);
            }
        }
    }
}
END_TEST

static void call_nothing(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    (void)arg;
}

/*
 * A callback takes its own ticket again, so that a second callback of the same ticket runs at the same time.
 * The first callback returns the ticket, and so waits for the second callback: the ticket waits for itself.
 * The library's search for a deadlock must not follow this cycle for ever.
 */
static fairsem_t        twice_sem;
static fairsem_ticket_t twice;
static _Atomic int      twice_calls, twice_returns, second_may_end;

static void take_anew_and_return(fairsem_ticket_t *ticket, void *arg)
{
    fairsem_units_t units = { 0 };

    if (atomic_fetch_add(&twice_calls, 1) == 0) {
        if (fairsem_ticket_claim(ticket, &units) != 0
            || fairsem_ticket_take(ticket, &twice_sem, 1, 0, take_anew_and_return, arg)
                   != EINPROGRESS)
            abort();
        while (atomic_load(&twice_calls) < 2)
            moment();
        atomic_fetch_add(&twice_returns, 1);
        fairsem_ticket_return(ticket);
        if (atomic_load(&second_may_end) == 0)
            abort();
    } else {
        while (atomic_load(&second_may_end) == 0)
            moment();
    }
}

static void return_twice(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    (void)arg;
    atomic_fetch_add(&twice_returns, 1);
    fairsem_ticket_return(&twice);
    if (atomic_load(&second_may_end) == 0)
        abort();
}

/* The end of each callback wakes all waiting returns, and each of them checks its condition again. */
static void *make_calls_and_let_the_second_end(void *arg)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket = { 0 };

    (void)arg;
    for (int i = 0; i < 1000 || atomic_load(&twice_returns) < 2; i++) {
        insist(EINPROGRESS, fairsem_ticket_take(&ticket, &sem, 1, 0, call_nothing, NULL));
        fairsem_release(&sem, 1);
        fairsem_ticket_return(&ticket);
        insist(0, fairsem_acquire(&sem, 1));
        moment();
    }
    atomic_store(&second_may_end, 1);
    return NULL;
}

START_TEST(a_callback_may_wait_for_another_callback_of_its_ticket)
{
    fairsem_t other = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket = { 0 };
    pthread_t first, second, third, last;

    twice_sem = (fairsem_t)FAIRSEM_INITIALIZER(0);
    twice_calls = twice_returns = second_may_end = 0;
    ck_assert_int_eq(fairsem_ticket_take(&twice, &twice_sem, 1, 0, take_anew_and_return, NULL),
                     EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &other, 1, 0, return_twice, NULL),
                     EINPROGRESS);
    start_thread(&first, release_one, &twice_sem);
    while (atomic_load(&twice_calls) == 0 || fairsem_waiters(&twice_sem) == 0)
        moment();
    start_thread(&second, release_one, &twice_sem);
    while (atomic_load(&twice_calls) < 2)
        moment();          /* until the ticket has left the queue, the third thread's return would dequeue it */
    start_thread(&third, release_one, &other);
    start_thread(&last, make_calls_and_let_the_second_end, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_join(third, NULL);
    pthread_join(last, NULL);
}
END_TEST

/* ---------------------------------------------------------------- addresses */

static _Atomic bool is_free, goes_on;

static void free_it_and_go_on(fairsem_ticket_t *ticket, void *arg)
{
    fairsem_units_t units = { 0 };

    (void)arg;
    if (fairsem_ticket_claim(ticket, &units) == 0)
        fairsem_units_release(&units);
    memset(ticket, 0, sizeof *ticket);
    atomic_store(&is_free, true);
    while (!atomic_load(&goes_on))
        moment();
}

/* The callback that still runs belongs to another ticket, which was at this address before. */
START_TEST(a_return_does_not_wait_for_the_callback_of_an_earlier_ticket_at_the_same_address)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0), other = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t place = { 0 };
    pthread_t thread;

    ck_assert_int_eq(fairsem_ticket_take(&place, &sem, 1, 0, free_it_and_go_on, NULL),
                     EINPROGRESS);
    start_thread(&thread, release_one, &sem);
    while (!atomic_load(&is_free))
        moment();
    ck_assert_int_eq(fairsem_ticket_take(&place, &other, 1, 0, call_nothing, NULL), EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_return(&place), 0);     /* a wait for the callback would never end */
    ck_assert(!atomic_load(&goes_on));
    atomic_store(&goes_on, true);
    pthread_join(thread, NULL);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_waiters(&other), 0);
}
END_TEST

/*
 * A return of the ticket `reused` grants the ticket `next`.  The callback of `next` takes `reused` again, with
 * a callback that frees `reused`.  Then a new ticket stands at the same address, and the callback of the new
 * ticket still runs while the return goes on.
 */
static fairsem_t        third_sem, fourth_sem;
static fairsem_ticket_t reused;
static pthread_t        goes_on_thread;

static void go_on(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    (void)arg;
    atomic_store(&is_free, true);
    while (!atomic_load(&goes_on))
        moment();
}

static void free_it_for_another(fairsem_ticket_t *ticket, void *arg)
{
    fairsem_units_t units = { 0 };

    (void)arg;
    insist(0, fairsem_ticket_claim(ticket, &units));
    memset(ticket, 0, sizeof *ticket);
    insist(EINPROGRESS, fairsem_ticket_take(ticket, &fourth_sem, 1, 0, go_on, NULL));
    start_thread(&goes_on_thread, release_one, &fourth_sem);
    while (!atomic_load(&is_free))
        moment();
}

static void take_the_returned(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    (void)arg;
    insist(EINPROGRESS,
           fairsem_ticket_take(&reused, &third_sem, 1, 0, free_it_for_another, NULL));
    fairsem_release(&third_sem, 1);
}
START_TEST(a_return_that_runs_a_callback_does_not_read_its_ticket_again)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    fairsem_ticket_t next = { 0 };

    third_sem = fourth_sem = (fairsem_t)FAIRSEM_INITIALIZER(0);
    atomic_store(&is_free, false);
    atomic_store(&goes_on, false);
    ck_assert_int_eq(fairsem_ticket_take(&reused, &sem, 1, 0, NULL, NULL), 0);
    ck_assert_int_eq(fairsem_ticket_take(&next, &sem, 1, 0, take_the_returned, NULL),
                     EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_return(&reused), 0);    /* a wait for go_on() would never end */
    ck_assert(atomic_load(&is_free) && !atomic_load(&goes_on));
    atomic_store(&goes_on, true);
    pthread_join(goes_on_thread, NULL);
    ck_assert_int_eq(fairsem_ticket_return(&reused), 0);
    ck_assert_int_eq(fairsem_ticket_return(&next), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_available(&third_sem), 0);
    ck_assert_int_eq(fairsem_available(&fourth_sem), 1);
}
END_TEST

/* ---------------------------------------------------------------- pending behind others */

static fairsem_t        first_sem, second_sem;
static fairsem_ticket_t second_ticket;
static int              second_calls, calls_before_end;
static bool             drops;

static void note_second(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    (void)arg;
    second_calls++;
}

static void cause_another(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    (void)arg;
    fairsem_release(&second_sem, 1);
    calls_before_end = second_calls;
    if (drops)
        fairsem_ticket_return(&second_ticket);
}

/* The second callback runs after the first callback and before the release returns.  If the first callback
 * returns the second ticket, the second callback never runs. */
START_TEST(callbacks_caused_by_a_callback_run_after_it)
{
    for (int i = 0; i < 2; i++) {
        fairsem_ticket_t first = { 0 };

        drops = i == 1;
        second_calls = 0;
        first_sem = second_sem = (fairsem_t)FAIRSEM_INITIALIZER(0);
        ck_assert_int_eq(fairsem_ticket_take(&first, &first_sem, 1, 0, cause_another, NULL),
                         EINPROGRESS);
        ck_assert_int_eq(fairsem_ticket_take(&second_ticket, &second_sem, 1, 0, note_second,
                                             NULL), EINPROGRESS);
        ck_assert_int_eq(fairsem_release(&first_sem, 1), 0);
        ck_assert_int_eq(calls_before_end, 0);
        ck_assert_int_eq(second_calls, drops ? 0 : 1);
        ck_assert_int_eq(fairsem_ticket_return(&first), 0);
        ck_assert_int_eq(fairsem_ticket_return(&second_ticket), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("callbacks", a_chain_of_callbacks_needs_the_stack_of_one_callback,
              take_says_whether_the_callback_will_run,
              callbacks_that_return_each_others_tickets_do_not_deadlock,
              a_callback_may_wait_for_another_callback_of_its_ticket,
              a_return_does_not_wait_for_the_callback_of_an_earlier_ticket_at_the_same_address,
              a_return_that_runs_a_callback_does_not_read_its_ticket_again,
              callbacks_caused_by_a_callback_run_after_it);
}
