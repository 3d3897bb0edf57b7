/* SPDX-License-Identifier: MIT */
/*
 * t_notify_race.c - callbacks and other threads: a return waits until the ticket's callback has
 * ended, and a callback holds up no other thread.
 */
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static void *release_one(void *arg)
{
    fairsem_release(arg, 1);
    return NULL;
}

/* ------------------------------------------------------------ a slow callback */

struct slow {
    fairsem_t    entered, go;   /* the callback releases `entered` and waits for `go` */
    _Atomic bool ended;
    int          result;        /* of the callback's wait for `go` */
};

static void take_time(fairsem_ticket_t *ticket, void *arg)
{
    struct slow *slow = arg;

    (void)ticket;
    fairsem_release(&slow->entered, 1);
    slow->result = fairsem_acquire(&slow->go, 1);
    atomic_store(&slow->ended, true);
}

struct returner {
    pthread_t         thread;
    fairsem_ticket_t *ticket;
    struct slow      *slow;
    _Atomic bool      about_to;
    bool              had_ended;    /* had the callback ended when the return returned? */
};

static void *return_it(void *arg)
{
    struct returner *r = arg;

    atomic_store(&r->about_to, true);
    fairsem_ticket_return(r->ticket);
    r->had_ended = atomic_load(&r->slow->ended);
    return NULL;
}

/* Two threads return the ticket.  Both must wait until the callback has ended. */
START_TEST(a_return_waits_for_the_callback_that_another_thread_is_running)
{
    for (int round = 0; round < stress_times(40); round++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        fairsem_ticket_t ticket = { 0 };
        struct slow slow = { .entered = FAIRSEM_INITIALIZER(0), .go = FAIRSEM_INITIALIZER(0) };
        struct returner r[2];
        pthread_t releaser;

        ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, take_time, &slow), EINPROGRESS);
        start_thread(&releaser, release_one, &sem);
        ck_assert_int_eq(fairsem_acquire(&slow.entered, 1), 0);
        for (int i = 0; i < 2; i++) {
            r[i] = (struct returner){ .ticket = &ticket, .slow = &slow };
            start_thread(&r[i].thread, return_it, &r[i]);
        }
        for (int i = 0; i < 2; i++) {
            while (!atomic_load(&r[i].about_to))
                moment();
        }
        for (int i = round % 10 * 10; i > 0; i--)
            moment();      /* time in which a return that does not wait would end */
        ck_assert_int_eq(fairsem_release(&slow.go, 1), 0);
        for (int i = 0; i < 2; i++) {
            pthread_join(r[i].thread, NULL);
            ck_assert(r[i].had_ended);
        }
        pthread_join(releaser, NULL);
        ck_assert_int_eq(slow.result, 0);
        ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_IDLE);
        ck_assert_int_eq(fairsem_available(&sem), 1);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

struct retaken {
    struct slow slow;           /* the first member: take_time() gets its address */
    fairsem_t  *sem;
    int         errors;
};

/* This callback takes its ticket again, for a request without a callback, and goes on. */
static void take_again_without_callback(fairsem_ticket_t *ticket, void *arg)
{
    struct retaken *r = arg;
    fairsem_units_t units = { 0 };

    r->errors += fairsem_ticket_claim(ticket, &units) != 0;
    r->errors += fairsem_ticket_take(ticket, r->sem, 1, 0, NULL, NULL) != EINPROGRESS;
    take_time(ticket, arg);
}

START_TEST(a_return_waits_for_the_callback_of_an_earlier_request_too)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket = { 0 };
    struct retaken retaken = {
        .slow = { .entered = FAIRSEM_INITIALIZER(0), .go = FAIRSEM_INITIALIZER(0) }, .sem = &sem
    };
    struct returner r = { .ticket = &ticket, .slow = &retaken.slow };
    pthread_t releaser;

    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, take_again_without_callback,
                                         &retaken), EINPROGRESS);
    start_thread(&releaser, release_one, &sem);
    ck_assert_int_eq(fairsem_acquire(&retaken.slow.entered, 1), 0);
    start_thread(&r.thread, return_it, &r);
    while (fairsem_waiters(&sem) != 0)
        moment();
    for (int i = 0; i < 100; i++)
        moment();          /* time in which a return that does not wait would end */
    ck_assert_int_eq(fairsem_release(&retaken.slow.go, 1), 0);
    pthread_join(r.thread, NULL);
    ck_assert(r.had_ended);
    pthread_join(releaser, NULL);
    ck_assert_int_eq(retaken.errors, 0);
}
END_TEST

static void count_call(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    atomic_fetch_add((_Atomic int *)arg, 1);
}

/* While a callback runs, its thread holds no lock of any semaphore, and other callbacks can run. */
START_TEST(a_slow_callback_holds_up_no_other_thread)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t slow_ticket = { 0 }, ticket = { 0 }, other_ticket = { 0 };
    fairsem_units_t units = { 0 };
    struct slow slow = { .entered = FAIRSEM_INITIALIZER(0), .go = FAIRSEM_INITIALIZER(0) };
    struct worker w = { 0 };
    _Atomic int calls = 0;
    pthread_t releaser;

    ck_assert_int_eq(fairsem_ticket_take(&slow_ticket, &sem, 1, 0, take_time, &slow), EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, count_call, &calls), EINPROGRESS);
    start_thread(&releaser, release_one, &sem);
    ck_assert_int_eq(fairsem_acquire(&slow.entered, 1), 0);

    ck_assert_int_eq(fairsem_ticket_state(&slow_ticket), FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_ticket_claim(&slow_ticket, &units), 0);
    ck_assert_int_eq(fairsem_units_release(&units), 0);
    ck_assert_int_eq(atomic_load(&calls), 1);
    worker_queue(&w, &sem, 1, 1);
    ck_assert_int_eq(fairsem_ticket_take(&other_ticket, &sem, 1, 0, count_call, &calls),
                     EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(worker_join(&w), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(atomic_load(&calls), 2);
    ck_assert_int_eq(fairsem_ticket_return(&other_ticket), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert(!atomic_load(&slow.ended));

    ck_assert_int_eq(fairsem_release(&slow.go, 1), 0);
    pthread_join(releaser, NULL);
    ck_assert_int_eq(fairsem_ticket_return(&slow_ticket), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

static void *release_and_wait(void *arg)
{
    fairsem_t *sem = arg;

    fairsem_release(sem, 1);
    insist(0, fairsem_acquire(sem, 1000));      /* canceled in this wait, not in the callback */
    return NULL;
}

/* A callback must run to its end, although it waits in fairsem_acquire(), a cancellation point. */
START_TEST(a_thread_is_not_canceled_in_a_callback_it_runs)
{
    for (int round = 0; round < 50; round++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        fairsem_ticket_t ticket = { 0 };
        struct slow slow = { .entered = FAIRSEM_INITIALIZER(0), .go = FAIRSEM_INITIALIZER(0) };
        pthread_t releaser;
        void *result;

        ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, take_time, &slow), EINPROGRESS);
        start_thread(&releaser, release_and_wait, &sem);
        ck_assert_int_eq(fairsem_acquire(&slow.entered, 1), 0);
        if (round % 2 == 0)
            await_waiters(&slow.go, 1);
        pthread_cancel(releaser);
        ck_assert_int_eq(fairsem_release(&slow.go, 1), 0);
        pthread_join(releaser, &result);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
        ck_assert(atomic_load(&slow.ended));
        ck_assert_int_eq(slow.result, 0);
        ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
        ck_assert_int_eq(fairsem_available(&sem), 1);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

/* ---------------------------------------------------------------- returns race with grants */

struct relay {
    fairsem_t   *sem;
    _Atomic int *turn;
    int          rounds;
};

static void *release_when_told(void *arg)
{
    struct relay *relay = arg;

    for (int i = 1; i <= relay->rounds; i++) {
        while (atomic_load(relay->turn) != i)
            moment();
        for (int spin = i % 41 * 15; spin > 0; spin--)
            atomic_load_explicit(relay->turn, memory_order_relaxed);
        fairsem_release(relay->sem, 1);
        atomic_store(relay->turn, 0);
    }
    return NULL;
}

static void touch(fairsem_ticket_t *ticket, void *arg)
{
    fairsem_ticket_state(ticket);
    atomic_fetch_add((_Atomic int *)arg, 1);
}

/* U13.  A ticket on the heap is returned, overwritten and freed while another thread grants it.
 * Its callback ends before the return does, or never runs.  The unit becomes free, or goes to the next
 * ticket. */
START_TEST(a_returned_ticket_can_be_freed_even_if_a_grant_races_with_the_return)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    _Atomic int turn = 0;
    struct relay relay = { .sem = &sem, .turn = &turn, .rounds = (int)stress_times(4000) };
    pthread_t thread;

    start_thread(&thread, release_when_told, &relay);
    for (int i = 1; i <= relay.rounds; i++) {
        fairsem_ticket_t *ticket = aligned_alloc(_Alignof(fairsem_ticket_t), sizeof *ticket);
        fairsem_ticket_t next = { 0 };
        _Atomic int calls = 0;
        int calls_then;

        if (ticket == NULL)
            ck_abort_msg("no memory");
        *ticket = (fairsem_ticket_t){ { 0 } };
        if (fairsem_ticket_take(ticket, &sem, 1, 0, touch, &calls) != EINPROGRESS
            || (i % 2 == 0
                && fairsem_ticket_take(&next, &sem, 1, 0, NULL, NULL) != EINPROGRESS))
            ck_abort_msg("take failed");
        atomic_store(&turn, i);
        for (int spin = i % 83 * 15; spin > 0; spin--)
            atomic_load_explicit(&turn, memory_order_relaxed);
        fairsem_ticket_return(ticket);
        calls_then = atomic_load(&calls);
        memset(ticket, 0xa5, sizeof *ticket);
        free(ticket);
        while (atomic_load(&turn) != 0)
            moment();
        if (atomic_load(&calls) != calls_then || calls_then > 1)
            ck_abort_msg("the callback ran after the return, or twice");
        if (i % 2 == 0 && fairsem_ticket_state(&next) != FAIRSEM_TICKET_GRANTED)
            ck_abort_msg("the next ticket was not granted");
        fairsem_ticket_return(&next);
        if (fairsem_tryacquire(&sem, 1) != 0 || fairsem_available(&sem) != 0)
            ck_abort_msg("a unit was lost or made");
    }
    pthread_join(thread, NULL);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
}
END_TEST

struct client {
    pthread_t  thread;
    fairsem_t *sem;
    int        rounds;
    int        lost;
};

static void hand_over(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    fairsem_release(arg, 1);        /* lets the client go on */
}

/* A small event loop: take, wait for the callback, claim, release. */
static void *use_tickets(void *arg)
{
    struct client *c = arg;
    fairsem_t called = FAIRSEM_INITIALIZER(0);

    for (int i = 0; i < c->rounds; i++) {
        fairsem_ticket_t ticket = { 0 };
        fairsem_units_t units = { 0 };
        int taken = fairsem_ticket_take(&ticket, c->sem, 1, i % 3, hand_over, &called);

        if (i % 4 == 0) {           /* do not wait: return the ticket at once */
            fairsem_ticket_return(&ticket);
            taken = fairsem_tryacquire(&called, 1);
            c->lost += taken != 0 && taken != EAGAIN;
            continue;
        }
        if (taken == EINPROGRESS)
            insist(0, fairsem_acquire(&called, 1));     /* the callback runs once */
        else
            c->lost += taken;
        c->lost += fairsem_ticket_claim(&ticket, &units) != 0;
        c->lost += fairsem_units_release(&units);
        fairsem_ticket_return(&ticket);     /* its callback, if any, has ended when this returns */
        c->lost += fairsem_tryacquire(&called, 1) != EAGAIN;
    }
    return NULL;
}

START_TEST(clients_with_tickets_grant_each_other_and_lose_nothing)
{
    enum { CLIENTS = 4 };
    fairsem_t sem = FAIRSEM_INITIALIZER(2);
    struct client c[CLIENTS];

    for (int i = 0; i < CLIENTS; i++) {
        c[i] = (struct client){ .sem = &sem, .rounds = (int)stress_times(2000) };
        start_thread(&c[i].thread, use_tickets, &c[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(c[i].thread, NULL);
        ck_assert_int_eq(c[i].lost, 0);
    }
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("notify_race", a_return_waits_for_the_callback_that_another_thread_is_running,
              a_return_waits_for_the_callback_of_an_earlier_request_too,
              a_slow_callback_holds_up_no_other_thread,
              a_thread_is_not_canceled_in_a_callback_it_runs,
              a_returned_ticket_can_be_freed_even_if_a_grant_races_with_the_return,
              clients_with_tickets_grant_each_other_and_lose_nothing);
}
