/* SPDX-License-Identifier: MIT */
/*
 * t_ticket_races.c - two threads use one ticket: one of them acts just after the other has loaded
 * its state.
 *
 * This program includes the library's ticket.c, so that it can act after every load of a ticket's
 * state or semaphore, and before the calls named below.
 */
#include "children.h"
#include "suite.h"
#include "workers.h"

#include "fork.h"
#include "wait.h"

#include <errno.h>
#include <string.h>

#define STEPS 8

static _Thread_local bool stepping;     /* the steps below happen in this thread */
static void (*after_load[STEPS])(void); /* after the first load, the second, ... */
static int loads;
static void (*before_check_wait)(void), (*before_add)(void), (*before_drop)(void);
static void (*before_await)(void), (*before_number)(void);
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

/* After a load of `object`. */
static void loaded(const volatile void *object);

static void (*after_check)(void);       /* of a take: is the ticket being returned? */

static bool take_may_go_on(bool not)
{
    void (*now)(void) = after_check;

    after_check = NULL;
    if (now != NULL)
        now();
    return not;
}

#include "loads.h"
#define fs_wait_valid(how)    (step(&before_check_wait), fs_wait_valid(how))
#define fs_callbacks_add(c, t) (step(&before_add), fs_callbacks_add(c, t))
#define fs_callbacks_drop(c, s, v) (step(&before_drop), fs_callbacks_drop(c, s, v))
#define fs_callbacks_end_return(c) (step(&before_await), fs_callbacks_end_return(c))
#define fs_callbacks_is_returned(n) take_may_go_on(fs_callbacks_is_returned(n))
#define fs_callbacks_number() (step(&before_number), fs_callbacks_number())

#include "ticket.c"
#include "ticket_wait.c"

static void loaded(const volatile void *object)
{
    const struct fs_ticket *t = (const struct fs_ticket *)(const void *)&shared;

    if (stepping && (object == &t->state || object == &t->sem) && loads < STEPS)
        step(&after_load[loads++]);
}

static fairsem_t first, second;
static _Atomic int mistakes;    /* of threads that are not the test's own */

static void begin(void)
{
    first = (fairsem_t)FAIRSEM_INITIALIZER(0);
    second = (fairsem_t)FAIRSEM_INITIALIZER(0);
    memset(&shared, 0, sizeof shared);
    memset(after_load, 0, sizeof after_load);
    loads = 0;
    mistakes = 0;
    before_check_wait = before_add = before_drop = before_await = before_number = NULL;
}

/* No ticket or thread waits, and all units are gone. */
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

static void take(fairsem_t *sem)
{
    must(fairsem_ticket_take(&shared, sem, 1, 0, NULL, NULL) != EINPROGRESS);
}

/* The ticket is granted where it waits, and claimed. */
static void grant(fairsem_t *sem)
{
    must(fairsem_release(sem, 1));
    must(fairsem_ticket_claim(&shared, &(fairsem_units_t){ 0 }));
}

static void move_to_second(void)
{
    grant(&first);
    take(&second);
}

static pthread_t mover;

static void *move_to_first(void *arg)
{
    (void)arg;
    grant(&second);
    take(&first);
    return NULL;
}

/* This is called with first's mutex held: until that is unlocked, the ticket is being taken. */
static void begin_to_move_to_first(void)
{
    start_thread(&mover, move_to_first, NULL);
    while (fs_ticket_sem(fs_ticket_inside(&shared)) != fs_inside(&first))
        moment();
}

/* It is in second's queue when its state is loaded, and thought to be in first's afterwards. */
START_TEST(a_return_takes_a_ticket_only_out_of_the_queue_it_is_in)
{
    begin();
    take(&first);
    after_load[1] = move_to_second;             /* after: which semaphore? */
    after_load[2] = begin_to_move_to_first;     /* after: in the queue? */
    stepping = true;
    ck_assert_int_eq(fairsem_ticket_return(&shared), 0);
    stepping = false;
    ck_assert_int_ge(loads, 3);
    pthread_join(mover, NULL);
    ck_assert_int_eq(fairsem_ticket_return(&shared), 0);
    end();
}
END_TEST

START_TEST(a_wait_for_a_ticket_does_not_begin_in_a_queue_the_ticket_has_left)
{
    begin();
    take(&first);
    after_load[1] = move_to_second;             /* after: which semaphore? */
    after_load[3] = begin_to_move_to_first;     /* after: in the queue? */
    stepping = true;
    ck_assert_int_eq(fairsem_ticket_wait(&shared, NULL), EINVAL);
    stepping = false;
    ck_assert_int_ge(loads, 4);
    pthread_join(mover, NULL);
    ck_assert_int_eq(fairsem_ticket_return(&shared), 0);
    end();
}
END_TEST

static void take_first(void)
{
    take(&first);
}

static void grant_first(void)
{
    grant(&first);
}

START_TEST(a_wait_finds_the_queue_of_a_ticket_that_is_taken_at_that_moment)
{
    begin();
    before_check_wait = take_first;
    after_load[1] = grant_first;
    stepping = true;
    ck_assert_int_eq(fairsem_ticket_wait(&shared, NULL), EINVAL);
    stepping = false;
    ck_assert(before_check_wait == NULL);
    end();
}
END_TEST

static enum fairsem_ticket_state seen;

static void look(void)
{
    seen = fairsem_ticket_state(&shared);
}

static void call_nothing(fairsem_ticket_t *which, void *arg)
{
    (void)which;
    (void)arg;
}

START_TEST(a_ticket_that_was_never_granted_does_not_look_granted)
{
    begin();
    ck_assert_int_eq(fairsem_ticket_take(&shared, &first, 1, 0, call_nothing, NULL), EINPROGRESS);
    ck_assert_int_eq(fairsem_close(&first, 0), 0);
    ck_assert_int_eq(fairsem_ticket_state(&shared), FAIRSEM_TICKET_CLOSED);
    seen = FAIRSEM_TICKET_WAITING;
    before_drop = look;
    stepping = true;
    ck_assert_int_eq(fairsem_ticket_return(&shared), 0);
    stepping = false;
    ck_assert_int_eq(seen, FAIRSEM_TICKET_IDLE);
    end();
}
END_TEST

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

/* If it can be taken by now.  Its callback is due while that of the ticket ahead runs. */
static void take_with_callback(void)
{
    if (fairsem_ticket_take(&shared, &first, 1, 0, count_call, NULL) != EINPROGRESS)
        return;
    start_thread(&mover, release_two, NULL);
    while (!atomic_load(&is_called))
        moment();
}

START_TEST(a_return_does_not_drop_the_callback_of_the_next_take)
{
    begin();
    memset(&ahead, 0, sizeof ahead);
    is_called = goes_on = called = 0;
    /* So that there may be a callback to drop. */
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

static int called_after_return;

/* The claim stops here until the callback has had time to run. */
static void return_in_the_middle_of_a_claim(void)
{
    must(fairsem_ticket_return(&shared));
    atomic_store(&goes_on, 1);
    pthread_join(mover, NULL);
    called_after_return = atomic_load(&called);
}

/* The ticket is being claimed, and its callback is due: it must not run after the return. */
START_TEST(a_return_beside_a_claim_leaves_no_callback_to_come)
{
    begin();
    memset(&ahead, 0, sizeof ahead);
    is_called = goes_on = called = 0;
    ck_assert_int_eq(fairsem_ticket_take(&ahead, &first, 1, 0, be_called_for_long, NULL),
                     EINPROGRESS);
    take_with_callback();
    ck_assert_int_eq(atomic_load(&is_called), 1);
    called_after_return = -1;
    before_drop = return_in_the_middle_of_a_claim;
    stepping = true;
    ck_assert_int_eq(fairsem_ticket_claim(&shared, &(fairsem_units_t){ 0 }), 0);
    stepping = false;
    ck_assert_int_eq(called_after_return, 0);
    end();
}
END_TEST

/* ---- A return while the ticket's own callback takes it again ---- */

static _Atomic int return_began, taken_again;

static void note_return(void)
{
    atomic_store(&return_began, 1);
}

/* In another thread than the callback.  It is begun when it has loaded the state, or waits. */
static void *return_shared(void *arg)
{
    if (arg != NULL)
        before_await = note_return;
    else
        after_load[0] = note_return;
    stepping = true;
    must(fairsem_ticket_return(&shared));
    stepping = false;
    return NULL;
}

static void begin_return(void *when)
{
    start_thread(&mover, return_shared, when);
    while (!atomic_load(&return_began))
        moment();
}

static void begin_return_now(void)
{
    begin_return(NULL);
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

/* arg: the return comes between the claim and the take; NULL: while the ticket is being taken. */
static void claim_and_take_again(fairsem_ticket_t *which, void *arg)
{
    must(fairsem_ticket_claim(which, &(fairsem_units_t){ 0 }));
    if (arg != NULL) {
        begin_return(arg);
        take_in_child(which);
    } else {
        after_check = begin_return_now;
    }
    taken_again = fairsem_ticket_take(which, &first, 1, 0, claim_and_take_again, arg);
}

static void return_while_it_is_taken_again(void *when, int expected)
{
    begin();
    return_began = 0;
    ck_assert_int_eq(fairsem_ticket_take(&shared, &first, 1, 0, claim_and_take_again, when),
                     EINPROGRESS);
    ck_assert_int_eq(fairsem_release(&first, 1), 0);
    pthread_join(mover, NULL);
    ck_assert_int_eq(taken_again, expected);
    end();
}

/* The return has made the ticket idle, and waits for the callback.  The user frees it afterwards. */
START_TEST(a_callback_cannot_take_a_ticket_that_is_being_returned)
{
    return_while_it_is_taken_again(&shared, ECANCELED);
}
END_TEST

/* It is too late to refuse the take, so the return takes the ticket back once more. */
START_TEST(a_return_takes_back_what_the_callback_is_just_taking)
{
    return_while_it_is_taken_again(NULL, EINPROGRESS);
}
END_TEST

static int awaits;

static void let_the_callback_end(void)
{
    awaits++;
    atomic_store(&goes_on, 1);
}

static void return_while_its_callback_runs(void)
{
    before_await = let_the_callback_end;
    stepping = true;
    must(fairsem_ticket_return(&shared));
    stepping = false;
}

static void be_called_and_stay(fairsem_ticket_t *which, void *arg)
{
    (void)which;
    (void)arg;
    atomic_store(&is_called, 1);
    while (!atomic_load(&goes_on))
        moment();
}

static void *release_first(void *arg)
{
    (void)arg;
    must(fairsem_release(&first, 1));
    return NULL;
}

/* The ticket is being claimed, so the return finds nothing to return; but the callback uses it. */
START_TEST(a_return_beside_a_claim_waits_for_the_callback_that_runs)
{
    begin();
    is_called = goes_on = awaits = 0;
    ck_assert_int_eq(fairsem_ticket_take(&shared, &first, 1, 0, be_called_and_stay, NULL),
                     EINPROGRESS);
    start_thread(&mover, release_first, NULL);
    while (!atomic_load(&is_called))
        moment();
    before_drop = return_while_its_callback_runs;
    stepping = true;
    ck_assert_int_eq(fairsem_ticket_claim(&shared, &(fairsem_units_t){ 0 }), 0);
    stepping = false;
    atomic_store(&goes_on, 1);
    pthread_join(mover, NULL);
    ck_assert_int_eq(awaits, 1);
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

/* The thread that forks is another one than the one that has the ticket. */
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

/* Another thread does it, because this one has the semaphore's mutex. */
static void have_the_one_ahead_withdrawn(void)
{
    start_thread(&mover, withdraw_ahead, NULL);
    pthread_join(mover, NULL);
}

static void wait_for_the_next_add(void)
{
    before_add = have_the_one_ahead_withdrawn;
}

/* The only callback that is due is withdrawn, and then another becomes due. */
START_TEST(a_callback_is_called_though_the_one_before_it_was_withdrawn)
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
    RUN_SUITE("ticket races", a_return_takes_a_ticket_only_out_of_the_queue_it_is_in,
              a_wait_for_a_ticket_does_not_begin_in_a_queue_the_ticket_has_left,
              a_wait_finds_the_queue_of_a_ticket_that_is_taken_at_that_moment,
              a_ticket_that_was_never_granted_does_not_look_granted,
              a_return_does_not_drop_the_callback_of_the_next_take,
              a_return_beside_a_claim_leaves_no_callback_to_come,
              a_callback_cannot_take_a_ticket_that_is_being_returned,
              a_return_takes_back_what_the_callback_is_just_taking,
              a_return_beside_a_claim_waits_for_the_callback_that_runs,
              a_ticket_that_was_being_taken_or_claimed_is_idle_in_a_child,
              a_callback_is_called_though_the_one_before_it_was_withdrawn);
}
