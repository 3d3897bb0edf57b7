/* SPDX-License-Identifier: MIT */
/*
 * t_fork_callbacks.c - a callback forks: the child has only the thread of that callback.
 */
#include "askers.h"
#include "children.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct caller {
    fairsem_ticket_t ticket;
    fairsem_t        other;
    fairsem_ticket_t *busy;         /* another thread runs the callback of *busy */
    _Atomic int      in_callback, let_go;
    int              status;
};

static void stay_in_callback(fairsem_ticket_t *ticket, void *arg)
{
    struct caller *c = arg;

    (void)ticket;
    atomic_store(&c->in_callback, 1);
    while (!atomic_load(&c->let_go))
        moment();
}

static void fork_in_callback(fairsem_ticket_t *ticket, void *arg)
{
    struct caller *c = arg;
    fairsem_units_t units = { 0 };
    pid_t child = fork();

    if (child == 0) {
        hang_alarm();
        CHILD_CHECK(fairsem_ticket_return(c->busy) == 0);
        CHILD_CHECK(fairsem_ticket_claim(ticket, &units) == 0);
        CHILD_CHECK(fairsem_units_release(&units) == 0);
        CHILD_CHECK(fairsem_ticket_return(ticket) == 0);
        CHILD_CHECK(fairsem_acquire(&c->other, 1) == 0);
        _exit(0);
    }
    c->status = status_of(child);
}

static void *release_one(void *arg)
{
    fairsem_release(arg, 1);
    return NULL;
}

START_TEST(a_callback_may_fork_while_another_one_runs)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0), busy_sem = FAIRSEM_INITIALIZER(0);
    struct caller busy = { .status = 0 };
    struct caller c = { .other = FAIRSEM_INITIALIZER(1), .busy = &busy.ticket, .status = -1 };
    pthread_t thread;

    ck_assert_int_eq(fairsem_ticket_take(&busy.ticket, &busy_sem, 1, 0, stay_in_callback, &busy),
                     EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_take(&c.ticket, &sem, 1, 0, fork_in_callback, &c), EINPROGRESS);
    start_thread(&thread, release_one, &busy_sem);
    while (!atomic_load(&busy.in_callback))
        moment();
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(c.status, 0);
    atomic_store(&busy.let_go, 1);
    pthread_join(thread, NULL);
    ck_assert_int_eq(fairsem_ticket_state(&c.ticket), FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_ticket_return(&c.ticket), 0);
    ck_assert_int_eq(fairsem_ticket_return(&busy.ticket), 0);
}
END_TEST

struct two_tickets {
    fairsem_t        sem;
    fairsem_ticket_t first, second;
    pid_t            child;
    int              second_calls;
};

static void fork_and_claim_the_second(fairsem_ticket_t *ticket, void *arg)
{
    struct two_tickets *both = arg;
    fairsem_units_t units = { 0 };

    (void)ticket;
    both->child = fork();
    if (both->child != 0)
        return;
    hang_alarm();
    CHILD_CHECK(fairsem_ticket_state(&both->second) == FAIRSEM_TICKET_GRANTED);
    CHILD_CHECK(fairsem_ticket_claim(&both->second, &units) == 0 && units.n == 1);
    CHILD_CHECK(fairsem_ticket_return(&both->second) == 0);
}

static void count_second(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    ((struct two_tickets *)arg)->second_calls++;
}

/* The child returns from its callback as well, but the second callback is not pending in the child. */
START_TEST(a_callback_pending_after_one_that_forks_runs_only_in_the_parent)
{
    struct two_tickets both = { .sem = FAIRSEM_INITIALIZER(0) };

    ck_assert_int_eq(fairsem_ticket_take(&both.first, &both.sem, 1, 0,
                                         fork_and_claim_the_second, &both), EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_take(&both.second, &both.sem, 1, 0, count_second, &both),
                     EINPROGRESS);
    ck_assert_int_eq(fairsem_release(&both.sem, 2), 0);
    if (both.child == 0) {
        CHILD_CHECK(both.second_calls == 0);
        CHILD_CHECK(fairsem_ticket_return(&both.first) == 0);
        CHILD_CHECK(fairsem_available(&both.sem) == 1);
        _exit(0);
    }
    ck_assert_int_eq(status_of(both.child), 0);
    ck_assert_int_eq(both.second_calls, 1);
    ck_assert_int_eq(fairsem_ticket_return(&both.first), 0);
    ck_assert_int_eq(fairsem_ticket_return(&both.second), 0);
    ck_assert_int_eq(fairsem_available(&both.sem), 2);
}
END_TEST

struct three_tickets {
    fairsem_t        sem;
    struct caller    first;         /* its callback runs; the callbacks of second and third are pending */
    fairsem_ticket_t second, third;
};

static void do_nothing(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    (void)arg;
}

static void *release_three(void *arg)
{
    fairsem_release(arg, 3);
    return NULL;
}

/*
 * The callbacks of two tickets are pending in the queue of a thread that only the parent has.  The child may
 * reuse the memory of those tickets, and overwrites the third ticket.  So a claim of the second ticket must not
 * follow that queue's links.
 */
START_TEST(a_claim_in_the_child_touches_no_queue_of_the_parent)
{
    struct three_tickets t = { .sem = FAIRSEM_INITIALIZER(0) };
    fairsem_units_t units = { 0 };
    pthread_t thread;
    pid_t child;

    ck_assert_int_eq(fairsem_ticket_take(&t.first.ticket, &t.sem, 1, 0, stay_in_callback,
                                         &t.first), EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_take(&t.second, &t.sem, 1, 0, do_nothing, NULL), EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_take(&t.third, &t.sem, 1, 0, do_nothing, NULL), EINPROGRESS);
    start_thread(&thread, release_three, &t.sem);
    while (!atomic_load(&t.first.in_callback))
        moment();
    child = fork();
    if (child == 0) {
        unsigned char other[sizeof t.third];

        memset(other, 0x5a, sizeof other);
        memcpy(&t.third, other, sizeof other);
        CHILD_CHECK(fairsem_ticket_claim(&t.second, &units) == 0 && units.n == 1);
        CHILD_CHECK(memcmp(&t.third, other, sizeof other) == 0);
        _exit(0);
    }
    atomic_store(&t.first.let_go, 1);
    pthread_join(thread, NULL);
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_ticket_return(&t.first.ticket), 0);
    ck_assert_int_eq(fairsem_ticket_return(&t.second), 0);
    ck_assert_int_eq(fairsem_ticket_return(&t.third), 0);
    ck_assert_int_eq(fairsem_available(&t.sem), 3);
}
END_TEST

struct behind {
    fairsem_t        sem;
    fairsem_ticket_t ticket;
    pthread_t        waiter;        /* the callback forks only in this thread */
    _Atomic int      over;
    pid_t            child;
};

static void fork_in_the_waiter(fairsem_ticket_t *ticket, void *arg)
{
    struct behind *b = arg;

    (void)ticket;
    if (pthread_equal(pthread_self(), b->waiter))
        b->child = fork();
}

static void *release_one_for_the_second(void *arg)
{
    struct behind *b = arg;

    while (fairsem_waiters(&b->sem) != 2 && !atomic_load(&b->over))
        moment();
    fairsem_release(&b->sem, 1);
    return NULL;
}

/*
 * A wait with a token times out.  The end of the wait grants the ticket behind it, and the ticket's callback
 * forks.  The child goes on in the same thread, with a new list of waits in the token.  If the wait times out
 * before the unit is released, the test repeats with a longer time.
 */
START_TEST(a_callback_may_fork_at_the_end_of_a_wait_with_a_token)
{
    fairsem_t other = FAIRSEM_INITIALIZER(0);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct asker waiter = { .how = { .token = &token } };
    struct behind b = { .child = -1, .waiter = pthread_self() };

    asker_queue(&waiter, &other, 1, 1);
    for (int64_t ms = 20; b.child == -1; ms *= 2) {
        struct timespec deadline = from_now(CLOCK_MONOTONIC, ms);
        const fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .deadline = &deadline,
                                     .token = &token };
        pthread_t releaser;
        int result;

        ck_assert_int_eq(fairsem_init(&b.sem, 0, NULL), 0);
        atomic_store(&b.over, 0);
        ck_assert_int_eq(fairsem_ticket_take(&b.ticket, &b.sem, 1, 1, fork_in_the_waiter, &b),
                         EINPROGRESS);
        start_thread(&releaser, release_one_for_the_second, &b);
        result = fairsem_acquire_with(&b.sem, 2, &how);
        if (b.child == 0) {
            struct asker childs = { .how = { .token = &token } };

            hang_alarm();
            CHILD_CHECK(result == ETIMEDOUT);
            asker_queue(&childs, &other, 1, 1);   /* in the token's new list */
            CHILD_CHECK(fairsem_token_destroy(&token) == EBUSY);
            CHILD_CHECK(fairsem_token_cancel(&token, 0) == 0);
            CHILD_CHECK(worker_join(&childs.w) == ECANCELED);
            CHILD_CHECK(fairsem_token_destroy(&token) == 0);
            _exit(0);
        }
        ck_assert_int_eq(result, ETIMEDOUT);
        atomic_store(&b.over, 1);
        pthread_join(releaser, NULL);
        ck_assert_int_eq(fairsem_ticket_return(&b.ticket), 0);
    }
    ck_assert_int_eq(status_of(b.child), 0);
    ck_assert_int_eq(fairsem_token_cancel(&token, 0), 0);
    ck_assert_int_eq(worker_join(&waiter.w), ECANCELED);
}
END_TEST

int main(void)
{
    if (UNDER_TSAN)
        return program_not_here("ThreadSanitizer does not follow a fork of a threaded process");
    RUN_SUITE("fork callbacks", a_callback_may_fork_while_another_one_runs,
              a_callback_pending_after_one_that_forks_runs_only_in_the_parent,
              a_claim_in_the_child_touches_no_queue_of_the_parent,
              a_callback_may_fork_at_the_end_of_a_wait_with_a_token);
}
