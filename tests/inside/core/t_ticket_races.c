/* SPDX-License-Identifier: MIT */
/*
 * t_ticket_races.c - two threads use one ticket, or a process forks, at moments that the explorer does not
 * reach.  A return is about to cancel a callback; a callback is canceled in the section in which the next
 * callback becomes pending; a process forks during a take or a claim.
 *
 * This program includes the library's ticket.c, so that it can act before the calls that the macros replace.
 */
#include "children.h"
#include "suite.h"
#include "workers.h"

#include "system/fork.h"
#include "wait.h"

#include <errno.h>
#include <string.h>

static _Thread_local bool stepping;     /* this thread does the steps below */
static void (*before_add)(void), (*before_drop)(void), (*before_await)(void), (*before_number)(void);
static fairsem_ticket_t shared;

static void step(void (**what)(void))
{
    void (*now)(void) = *what;

    if (!stepping || now == NULL)
        return;
    *what = NULL;
    stepping = false;
    now();
    stepping = true;
}

#define fs_callbacks_add(c, t) (step(&before_add), fs_callbacks_add(c, t))
#define fs_callbacks_cancel(c, s) (step(&before_drop), fs_callbacks_cancel(c, s))
#define fs_callbacks_end_return(c) (step(&before_await), fs_callbacks_end_return(c))
#define fs_callbacks_number() (step(&before_number), fs_callbacks_number())

#include "ticket.c"

static fairsem_t first, second;
static _Atomic int mistakes;    /* of threads that are not the test's own */

static void begin(void)
{
    first = (fairsem_t)FAIRSEM_INITIALIZER(0);
    second = (fairsem_t)FAIRSEM_INITIALIZER(0);
    memset(&shared, 0, sizeof shared);
    mistakes = 0;
    before_add = before_drop = before_await = before_number = NULL;
}

/* Check that no ticket or thread waits, and that no unit is free. */
static void end(void)
{
    ck_assert_int_eq(mistakes, 0);
    ck_assert_int_eq(fairsem_ticket_state(&shared), FAIRSEM_TICKET_IDLE);
    ck_assert_int_eq(fairsem_waiters(&first), 0);
    ck_assert_int_eq(fairsem_waiters(&second), 0);
    ck_assert_int_eq(fairsem_available(&first), 0);
    ck_assert_int_eq(fairsem_available(&second), 0);
    ck_assert_int_eq(fairsem_destroy(&first), 0);
    ck_assert_int_eq(fairsem_destroy(&second), 0);
}

static void must(int result)
{
    if (result != 0)
        atomic_fetch_add(&mistakes, 1);
}

static pthread_t mover;
static fairsem_ticket_t ahead;
static _Atomic int is_called, goes_on, called;

static void be_called_for_long(fairsem_ticket_t *which, void *arg)
{
    (void)arg;
    atomic_store(&is_called, 1);
    while (!atomic_load(&goes_on))
        moment();
    must(fairsem_ticket_claim(which, &(fairsem_units_t){ 0 }));
}

static void count_call(fairsem_ticket_t *which, void *arg)
{
    (void)which;
    (void)arg;
    atomic_fetch_add(&called, 1);
}

static void *release_two(void *arg)
{
    (void)arg;
    must(fairsem_release(&first, 2));
    return NULL;
}

/* Take `shared`, if that is possible.  Its callback is pending while the callback of `ahead` runs. */
static void take_with_callback(void)
{
    if (fairsem_ticket_take(&shared, &first, 1, 0, count_call, NULL) != EINPROGRESS)
        return;
    start_thread(&mover, release_two, NULL);
    while (!atomic_load(&is_called))
        moment();
}

START_TEST(a_return_does_not_cancel_the_callback_of_the_next_take)
{
    begin();
    memset(&ahead, 0, sizeof ahead);
    is_called = goes_on = called = 0;
    /* A return looks for a callback to cancel only if the ticket has had a callback. */
    ck_assert_int_eq(fairsem_ticket_take(&shared, &first, 1, 0, count_call, NULL), EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_return(&shared), 0);
    ck_assert_int_eq(fairsem_ticket_take(&ahead, &first, 1, 0, be_called_for_long, NULL),
                     EINPROGRESS);
    before_drop = before_await = take_with_callback;
    stepping = true;
    ck_assert_int_eq(fairsem_ticket_return(&shared), 0);
    stepping = false;
    ck_assert_int_eq(atomic_load(&is_called), 1);
    atomic_store(&goes_on, 1);
    pthread_join(mover, NULL);
    ck_assert_int_eq(called, 1);
    ck_assert_int_eq(fairsem_ticket_claim(&shared, &(fairsem_units_t){ 0 }), 0);
    end();
}
END_TEST

/* ---- A return while the ticket's own callback takes it again ---- */

static _Atomic int return_began, taken_again;

static void note_return(void)
{
    atomic_store(&return_began, 1);
}

/* Runs in another thread than the callback. */
static void *return_shared(void *arg)
{
    (void)arg;
    before_await = note_return;
    stepping = true;
    must(fairsem_ticket_return(&shared));
    stepping = false;
    return NULL;
}

/* The thread that returns the ticket does not exist in the child. */
static void take_in_child(fairsem_ticket_t *which)
{
    pid_t child = fork();

    if (child == 0) {
        CHILD_CHECK(fairsem_ticket_take(which, &first, 1, 0, NULL, NULL) == EINPROGRESS);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
}

/* The return comes between the claim and the take. */
static void claim_and_take_again(fairsem_ticket_t *which, void *arg)
{
    must(fairsem_ticket_claim(which, &(fairsem_units_t){ 0 }));
    start_thread(&mover, return_shared, NULL);
    while (!atomic_load(&return_began))
        moment();
    take_in_child(which);
    taken_again = fairsem_ticket_take(which, &first, 1, 0, claim_and_take_again, arg);
}

/* The return has made the ticket idle, and waits for the callback.  Afterwards the user may free the ticket. */
START_TEST(a_callback_cannot_take_a_ticket_that_is_being_returned)
{
    begin();
    return_began = 0;
    ck_assert_int_eq(fairsem_ticket_take(&shared, &first, 1, 0, claim_and_take_again, NULL),
                     EINPROGRESS);
    ck_assert_int_eq(fairsem_release(&first, 1), 0);
    pthread_join(mover, NULL);
    ck_assert_int_eq(taken_again, ECANCELED);
    end();
}
END_TEST

/* ---------------------------------------------------------------- in a child */

static pid_t forked;

static void *use_in_child(void *arg)
{
    pid_t child = fork();

    (void)arg;
    if (child == 0) {
        CHILD_CHECK(fairsem_ticket_state(&shared) == FAIRSEM_TICKET_IDLE);
        CHILD_CHECK(fairsem_ticket_take(&shared, &second, 1, 0, NULL, NULL) == EINPROGRESS);
        CHILD_CHECK(fairsem_release(&second, 1) == 0);
        CHILD_CHECK(fairsem_ticket_claim(&shared, &(fairsem_units_t){ 0 }) == 0);
        _exit(0);
    }
    forked = child;
    return NULL;
}

/* The forking thread is not the thread that uses the ticket. */
static void fork_now(void)
{
    start_thread(&mover, use_in_child, NULL);
    pthread_join(mover, NULL);
    ck_assert_int_eq(status_of(forked), 0);
}

START_TEST(a_ticket_that_was_being_taken_or_claimed_is_idle_in_a_child)
{
    if (UNDER_TSAN)
        NOT_HERE("ThreadSanitizer does not follow a fork of a threaded process");
    begin();
    called = 0;
    before_number = before_drop = fork_now;
    stepping = true;
    ck_assert_int_eq(fairsem_ticket_take(&shared, &first, 1, 0, count_call, NULL), EINPROGRESS);
    ck_assert(before_number == NULL);
    stepping = false;
    ck_assert_int_eq(fairsem_release(&first, 1), 0);
    stepping = true;
    ck_assert_int_eq(fairsem_ticket_claim(&shared, &(fairsem_units_t){ 0 }), 0);
    stepping = false;
    ck_assert(before_drop == NULL);
    end();
}
END_TEST

static void *withdraw_ahead(void *arg)
{
    (void)arg;
    must(fairsem_ticket_claim(&ahead, &(fairsem_units_t){ 0 }));
    must(fairsem_ticket_return(&ahead));
    return NULL;
}

/* Another thread withdraws the ticket, because this thread holds the semaphore's mutex. */
static void have_the_one_ahead_withdrawn(void)
{
    start_thread(&mover, withdraw_ahead, NULL);
    pthread_join(mover, NULL);
}

static void wait_for_the_next_add(void)
{
    before_add = have_the_one_ahead_withdrawn;
}

START_TEST(a_callback_runs_even_if_the_callback_before_it_was_canceled)
{
    begin();
    memset(&ahead, 0, sizeof ahead);
    called = 0;
    ck_assert_int_eq(fairsem_ticket_take(&ahead, &first, 1, 0, count_call, NULL), EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_take(&shared, &first, 1, 0, count_call, NULL), EINPROGRESS);
    before_add = wait_for_the_next_add;
    stepping = true;
    ck_assert_int_eq(fairsem_release(&first, 2), 0);
    stepping = false;
    ck_assert(before_add == NULL);
    ck_assert_int_eq(called, 1);
    ck_assert_int_eq(fairsem_ticket_claim(&shared, &(fairsem_units_t){ 0 }), 0);
    end();
}
END_TEST

int main(void)
{
    RUN_SUITE("ticket races", a_return_does_not_cancel_the_callback_of_the_next_take,
              a_callback_cannot_take_a_ticket_that_is_being_returned,
              a_ticket_that_was_being_taken_or_claimed_is_idle_in_a_child,
              a_callback_runs_even_if_the_callback_before_it_was_canceled);
}
