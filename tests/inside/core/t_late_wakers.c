/* SPDX-License-Identifier: MIT */
/*
 * t_late_wakers.c - a releasing thread is held up between its grants and its wakes or callbacks.  A
 * granted thread may see its grant by itself, go on, and sleep elsewhere.  No thread may depend on
 * the late wake.
 *
 * The linker sends the library's calls of these functions here first (--wrap).
 */
#include "bare.h"
#include "children.h"
#include "restless.h"
#include "suite.h"
#include "workers.h"

#include "section.h"

#include <errno.h>
#include <stdbool.h>

/* What a thread that sets one of these does in the calls below. */
static _Thread_local bool late;         /* it wakes no thread before let_go */
static _Thread_local bool late_inside;  /* the same, with the first parker's mutex held */
static _Thread_local bool waking;
static _Atomic bool held_up, let_go;

static void be_late(void)
{
    atomic_store(&held_up, true);
    while (!atomic_load(&let_go))
        moment();
}

void __real_fs_wake_queue_run(struct fs_wake_queue *wakes);
void __wrap_fs_wake_queue_run(struct fs_wake_queue *wakes);
void __wrap_fs_wake_queue_run(struct fs_wake_queue *wakes)
{
    if (late)
        be_late();
    waking = true;
    __real_fs_wake_queue_run(wakes);
    waking = false;
}

/* Where there was nobody to wake. */
void __real_fs_callbacks_run(struct fs_callbacks *callbacks);
void __wrap_fs_callbacks_run(struct fs_callbacks *callbacks);
void __wrap_fs_callbacks_run(struct fs_callbacks *callbacks)
{
    if (late)
        be_late();
    __real_fs_callbacks_run(callbacks);
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
BARE int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (late_inside && waking)
        be_late();
    return __real_pthread_mutex_unlock(mutex);
}

/*
 * Return true when n waiters are in the queue, each of them PARKED: it may sleep.  False: the wait
 * that has this result has ended before that.  (NULL: none can.)
 */
static bool get_parked(fairsem_t *sem, int n, const _Atomic int *result)
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_section in;
    int parked;

    do {
        if (result != NULL && atomic_load(result) != STILL_WAITING)
            return false;
        moment();
        parked = 0;
        fs_section_begin(&in, s);
        for (struct fs_waitq_node *at = fs_waitq_first(&s->queue); at != NULL;
             at = fs_waitq_behind(&s->queue, at))
            parked += atomic_load(&fs_waiter_of(at)->state) == FS_PARKED;
        fs_section_end(&in);
    } while (parked != n);
    return true;
}

static void await_parked(fairsem_t *sem, int n)
{
    get_parked(sem, n, NULL);
}

struct late_release {
    pthread_t  thread;
    fairsem_t *sem;
    int        sleepers;    /* the release begins when so many sleep... */
    const _Atomic int *ends; /* ... or this wait has ended; NULL: it waits for ever */
    bool       all_slept;   /* r/o after join */
    int64_t    n;
    bool       inside;      /* held up with a parker's mutex held */
    int       *writes;      /* if not NULL: set before the release */
};

static void *release_late(void *arg)
{
    struct late_release *r = arg;

    r->all_slept = get_parked(r->sem, r->sleepers, r->ends);
    if (r->writes != NULL)
        *r->writes = 1;
    late = !r->inside;
    late_inside = r->inside;
    fairsem_release(r->sem, r->n);
    atomic_store(&held_up, true);   /* also if there is no such mutex */
    return NULL;
}

static void start_late(struct late_release *r)
{
    atomic_store(&held_up, false);
    atomic_store(&let_go, false);
    start_thread(&r->thread, release_late, r);
}

/* Return when it has granted all that it can. */
static void await_late(void)
{
    while (!atomic_load(&held_up))
        moment();
}

static void let_it_go(struct late_release *r)
{
    atomic_store(&let_go, true);
    pthread_join(r->thread, NULL);
}

/* It waits for a unit of one semaphore after the other, restless in the first wait. */
struct traveler {
    pthread_t   thread;
    fairsem_t  *sem[3];
    _Atomic int arrived;    /* how many of its waits have ended */
    int         errors;     /* r/o after join */
};

static void *travel(void *arg)
{
    struct traveler *t = arg;

    for (int i = 0; i < 3 && t->sem[i] != NULL; i++) {
        restless = i == 0;
        t->errors += fairsem_acquire(t->sem[i], 1) != 0;
        atomic_fetch_add(&t->arrived, 1);
    }
    return NULL;
}

static void await_arrival(struct traveler *t, int n)
{
    while (atomic_load(&t->arrived) < n)
        moment();
}

/*
 * Two threads are in the late wake queue.  The first goes on and sleeps twice more, and is woken
 * each time by others.  It must stay in that queue, or the second is lost with it.
 */
START_TEST(a_thread_that_goes_on_before_its_wake_can_wait_and_be_woken_again)
{
    fairsem_t sem[3] = { FAIRSEM_INITIALIZER(0), FAIRSEM_INITIALIZER(0), FAIRSEM_INITIALIZER(0) };
    struct traveler t = { .sem = { &sem[0], &sem[1], &sem[2] } };
    struct worker sleeper = { 0 };
    struct late_release late_one = { .sem = &sem[0], .sleepers = 2, .n = 2 };

    start_thread(&t.thread, travel, &t);
    await_waiters(&sem[0], 1);
    worker_queue(&sleeper, &sem[0], 1, 2);
    start_late(&late_one);
    await_late();
    for (int i = 1; i < 3; i++) {
        await_arrival(&t, i);
        await_parked(&sem[i], 1);
        ck_assert_int_eq(fairsem_release(&sem[i], 1), 0);
    }
    await_arrival(&t, 3);
    let_it_go(&late_one);
    pthread_join(t.thread, NULL);
    ck_assert_int_eq(t.errors, 0);
    ck_assert_int_eq(worker_join(&sleeper), 0);
}
END_TEST

/* More threads than the list of those to be woken again (deferred.h) has room for. */
START_TEST(one_release_wakes_any_number_of_threads_that_another_has_yet_to_wake)
{
    enum { MANY = 20 };
    fairsem_t first = FAIRSEM_INITIALIZER(0), second = FAIRSEM_INITIALIZER(0);
    struct traveler t[MANY];
    struct late_release late_one = { .sem = &first, .sleepers = MANY, .n = MANY };

    for (int i = 0; i < MANY; i++) {
        t[i] = (struct traveler){ .sem = { &first, &second } };
        start_thread(&t[i].thread, travel, &t[i]);
    }
    start_late(&late_one);
    await_late();
    await_parked(&second, MANY);
    ck_assert_int_eq(fairsem_release(&second, MANY), 0);
    for (int i = 0; i < MANY; i++) {
        pthread_join(t[i].thread, NULL);
        ck_assert_int_eq(t[i].errors, 0);
    }
    let_it_go(&late_one);
}
END_TEST

struct timed_traveler {
    pthread_t   thread;
    fairsem_t  *sem;
    int64_t     ns;         /* the time that its first wait has */
    _Atomic int first, second;
};

static void *time_out_and_wait_again(void *arg)
{
    struct timed_traveler *t = arg;

    atomic_store(&t->first, fairsem_acquire_for(t->sem, 1, t->ns));
    atomic_store(&t->second, fairsem_acquire(t->sem, 1));
    return NULL;
}

/*
 * A release grants to one sleeper and wakes the next early, but both wakes are late.  The second
 * must not depend on them: not when its deadline passes...
 */
static bool times_out_before_its_wake(int64_t ns)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker granted = { 0 };
    struct timed_traveler t = { .sem = &sem, .ns = ns, .first = STILL_WAITING,
                                .second = STILL_WAITING };
    struct late_release late_one = { .sem = &sem, .sleepers = 2, .ends = &t.first, .n = 1 };

    worker_queue(&granted, &sem, 1, 1);
    start_thread(&t.thread, time_out_and_wait_again, &t);
    start_late(&late_one);
    await_late();
    while (atomic_load(&t.first) == STILL_WAITING)
        moment();
    ck_assert_int_eq(t.first, ETIMEDOUT);
    await_waiters(&sem, 1);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    pthread_join(t.thread, NULL);
    ck_assert_int_eq(t.second, 0);
    let_it_go(&late_one);
    ck_assert_int_eq(worker_join(&granted), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    return late_one.all_slept;
}

/* On a busy machine the time may pass before the release: then once more, with a longer one. */
START_TEST(a_wait_times_out_though_its_early_wake_is_late)
{
    int64_t ns = 50000000;

    while (!times_out_before_its_wake(ns))
        ns *= 2;
}
END_TEST

/* ... and not when another release grants to it. */
START_TEST(a_grant_wakes_a_waiter_whose_early_wake_is_late)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker w1 = { 0 }, w2 = { 0 };
    struct late_release late_one = { .sem = &sem, .sleepers = 2, .n = 1 };

    worker_queue(&w1, &sem, 1, 1);
    worker_queue(&w2, &sem, 1, 2);
    start_late(&late_one);
    await_late();
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w2), 0);
    let_it_go(&late_one);
    ck_assert_int_eq(worker_join(&w1), 0);
}
END_TEST

/*
 * FAIRSEM_BOUNDED_BYPASS: the head has been woken to claim, and another thread takes the unit.  For
 * ThreadSanitizer nothing else may order the two threads: the word is loaded relaxed, and not by a
 * try, which has an order of its own.
 */
START_TEST(a_thread_that_passes_sees_what_the_releaser_wrote)
{
    const fairsem_attr_t attr = {
        .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = INT64_C(3600) * 1000000000
    };
    fairsem_t sem;
    struct worker sleeper = { 0 };
    int written = 0;
    struct late_release late_one = { .sem = &sem, .sleepers = 1, .n = 1, .writes = &written };

    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    worker_queue(&sleeper, &sem, 1, 1);
    start_late(&late_one);
    while (atomic_load_explicit(&fs_inside(&sem)->word, memory_order_relaxed) < FS_OPEN)
        moment();
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(written, 1);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    let_it_go(&late_one);
    ck_assert_int_eq(worker_join(&sleeper), 0);
}
END_TEST

/* As a try for 0 units would: a thread waits, although a thread that wants a unit may pass it. */
START_TEST(would_block_for_no_units_sees_a_waiter_though_units_are_open)
{
    const fairsem_attr_t attr = {
        .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = INT64_C(3600) * 1000000000
    };
    fairsem_t sem;
    struct worker sleeper = { 0 };
    struct late_release late_one = { .sem = &sem, .sleepers = 1, .n = 1 };

    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    worker_queue(&sleeper, &sem, 1, 1);
    start_late(&late_one);
    await_late();
    ck_assert_int_ge(atomic_load(&fs_inside(&sem)->word), FS_OPEN);
    ck_assert(!fairsem_would_block(&sem, 1));
    ck_assert(fairsem_would_block(&sem, 0));
    let_it_go(&late_one);
    ck_assert_int_eq(worker_join(&sleeper), 0);
}
END_TEST

struct token_waiter {
    fairsem_t      *sem;
    fairsem_token_t token;
    int             result;
};

static void *acquire_with_token(void *arg)
{
    struct token_waiter *w = arg;
    const fairsem_wait_t how = { .token = &w->token };

    w->result = fairsem_acquire_with(w->sem, 1, &how);
    return NULL;
}

/*
 * A waiter has been granted but still sleeps when its token is canceled: too late.  But it has yet
 * to leave the token's list, so the token must refuse to be destroyed.  (On a futex it may have
 * seen the grant just before it slept: then another round.)
 */
START_TEST(a_token_is_in_use_until_its_granted_waiter_has_returned)
{
    bool refused = false;

    while (!refused) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        struct token_waiter w = { &sem, FAIRSEM_TOKEN_INITIALIZER, STILL_WAITING };
        struct late_release late_one = { .sem = &sem, .sleepers = 1, .n = 1 };
        pthread_t waiter;

        start_thread(&waiter, acquire_with_token, &w);
        start_late(&late_one);
        await_late();
        ck_assert_int_eq(fairsem_token_cancel(&w.token, 0), 0);
        refused = fairsem_token_destroy(&w.token) == EBUSY;
        let_it_go(&late_one);
        pthread_join(waiter, NULL);
        ck_assert_int_eq(w.result, 0);
        ck_assert(!refused || fairsem_token_destroy(&w.token) == 0);
    }
}
END_TEST

static void count_call(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    atomic_fetch_add((_Atomic int *)arg, 1);
}

/* The ticket is claimed when its callback is due but has not begun: it must not run any more. */
START_TEST(a_claim_drops_a_callback_that_is_due)
{
    const fairsem_attr_t attr = { .capacity = 1 };
    fairsem_t sem;
    fairsem_ticket_t ticket = { 0 };
    fairsem_units_t units = { 0 };
    _Atomic int calls = 0, other_calls = 0;
    struct late_release late_one = { .sem = &sem, .sleepers = 0, .n = 1 };

    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, count_call, &calls), EINPROGRESS);
    start_late(&late_one);
    await_late();
    ck_assert_int_eq(fairsem_ticket_claim(&ticket, &units), 0);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 2, 0, count_call, &other_calls), E2BIG);
    let_it_go(&late_one);
    ck_assert_int_eq(calls, 0);
    ck_assert_int_eq(other_calls, 0);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
}
END_TEST

/* The first ticket with a callback registers the reset of callbacks in a child. */
static void ask_for_a_callback(void)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    fairsem_ticket_t ticket = { 0 };

    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, count_call, NULL), 0);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
}

/* The child gets a copy of its thread's parker, whose mutex the late thread holds. */
static void fork_while_being_woken(bool callback_before, bool callback_after)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0), other = FAIRSEM_INITIALIZER(0);
    struct late_release late_one = { .sem = &sem, .sleepers = 1, .n = 1, .inside = true };
    pid_t child;

    if (UNDER_TSAN)
        NOT_HERE("ThreadSanitizer does not support a forked child with threads");
    if (callback_before)
        ask_for_a_callback();
    start_late(&late_one);
    restless = true;
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    restless = false;
    await_late();
    if (callback_after)
        ask_for_a_callback();
    child = fork();
    if (child == 0) {
        hang_alarm();
        CHILD_CHECK(fairsem_acquire_for(&other, 1, 1000000) == ETIMEDOUT);
        _exit(0);
    }
    let_it_go(&late_one);
    ck_assert_int_eq(status_of(child), 0);
}

START_TEST(a_thread_that_forks_while_it_is_being_woken_can_wait_in_the_child)
{
    fork_while_being_woken(false, false);
}
END_TEST

START_TEST(a_child_can_wait_where_callbacks_came_after_parkers)
{
    fork_while_being_woken(false, true);
}
END_TEST

START_TEST(a_child_can_wait_where_callbacks_came_before_parkers)
{
    fork_while_being_woken(true, false);
}
END_TEST

int main(void)
{
    RUN_SUITE("late wakers", a_thread_that_goes_on_before_its_wake_can_wait_and_be_woken_again,
              one_release_wakes_any_number_of_threads_that_another_has_yet_to_wake,
              a_wait_times_out_though_its_early_wake_is_late,
              a_grant_wakes_a_waiter_whose_early_wake_is_late,
              a_thread_that_passes_sees_what_the_releaser_wrote,
              would_block_for_no_units_sees_a_waiter_though_units_are_open,
              a_token_is_in_use_until_its_granted_waiter_has_returned,
              a_claim_drops_a_callback_that_is_due,
              a_thread_that_forks_while_it_is_being_woken_can_wait_in_the_child,
              a_child_can_wait_where_callbacks_came_after_parkers,
              a_child_can_wait_where_callbacks_came_before_parkers);
}
