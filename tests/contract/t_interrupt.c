/* SPDX-License-Identifier: MIT */
/* t_interrupt.c - interruptible semaphores: EINTR, and calls in a signal handler. */
#include "askers.h"
#include "stress.h"
#include "suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

static fairsem_t    *handlers_sem;  /* the semaphore that the handler releases or closes */
static _Atomic int   handled, release_result;

static void note(int sig)
{
    (void)sig;
    atomic_fetch_add(&handled, 1);
}

static void release_one(int sig)
{
    int before = errno;

    atomic_store(&release_result, fairsem_release(handlers_sem, 1));
    atomic_fetch_add(&handled, sig == SIGUSR1);
    errno = before;
}

static void handle(void (*handler)(int), int flags)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    atomic_store(&handled, 0);
}

static void make_interruptible(fairsem_t *sem, int64_t units)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_INTERRUPTIBLE };

    ck_assert_int_eq(fairsem_init(sem, units, &attr), 0);
}

/* Send signals until *result is set: a signal that comes before the sleep may not be enough. */
static void signal_until(struct worker *w, _Atomic int *result)
{
    while (atomic_load(result) == STILL_WAITING) {
        pthread_kill(w->thread, SIGUSR1);
        moment();
    }
}

/* Send a hundred signals; wait until each is handled. */
static void signal_often(struct worker *w)
{
    for (int i = 1; i <= 100; i++) {
        pthread_kill(w->thread, SIGUSR1);
        while (atomic_load(&handled) < i)
            moment();
    }
}

START_TEST(a_handler_ends_the_wait_and_the_next_waiter_is_granted)
{
    fairsem_t sem;
    struct worker w = { 0 }, behind = { 0 };

    handle(note, 0);
    make_interruptible(&sem, 0);
    worker_queue(&w, &sem, 5, 1);
    worker_queue(&behind, &sem, 1, 2);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 2);
    signal_until(&w, &w.result);
    ck_assert_int_eq(worker_join(&w), EINTR);
    ck_assert_int_eq(worker_join(&behind), 0);     /* I7: the end of the wait of w grants the free unit */
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(a_handler_with_sa_restart_does_not_end_a_wait_without_a_deadline)
{
    fairsem_t sem;
    struct worker w = { 0 };

    handle(note, SA_RESTART);
    make_interruptible(&sem, 0);
    worker_queue(&w, &sem, 1, 1);
    signal_often(&w);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(waiters_without_the_flag_are_not_interrupted_and_keep_their_places)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker w[4] = { { .service = NULL } };
    _Atomic int service = 0;

    handle(note, 0);
    for (int i = 0; i < 4; i++) {
        w[i].service = &service;
        worker_queue(&w[i], &sem, 1, i + 1);
    }
    for (int i = 0; i < 4; i++) {
        atomic_store(&handled, 0);
        signal_often(&w[i]);
    }
    ck_assert_int_eq(fairsem_waiters(&sem), 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(worker_join(&w[i]), 0);
        ck_assert_int_eq(w[i].place, i);
    }
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

/* Some garbage collectors stop threads in a signal handler, and wake them in another handler. */
START_TEST(a_handler_may_release_what_its_own_thread_waits_for)
{
    static fairsem_t sem;

    handlers_sem = &sem;
    for (int round = 0; round < 50; round++) {
        struct worker w = { 0 };

        handle(release_one, round % 2 == 0 ? 0 : SA_RESTART);
        make_interruptible(&sem, 0);
        worker_queue(&w, &sem, 1, 1);
        pthread_kill(w.thread, SIGUSR1);
        ck_assert_int_eq(worker_join(&w), 0);
        ck_assert_int_eq(release_result, 0);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

static _Atomic int stop;

static void *take_and_give(void *arg)
{
    while (!atomic_load(&stop)) {
        if (fairsem_acquire_for(arg, 1, 1000000) == 0)
            fairsem_release(arg, 1);
    }
    return NULL;
}

/* The handler may interrupt a critical section of the same semaphore. */
START_TEST(a_handler_may_release_at_any_moment)
{
    static fairsem_t sem;
    pthread_t thread[4];
    int taken;

    handle(release_one, 0);
    make_interruptible(&sem, 1);
    handlers_sem = &sem;
    for (int i = 0; i < 4; i++)
        start_thread(&thread[i], take_and_give, &sem);
    for (taken = 0; taken < stress_times(3000); taken++) {
        /* Take away the units that the handlers add, so that there are always waiters.  Two pending
         * signals may merge into one, so send signals until a unit comes. */
        do {
            pthread_kill(thread[taken % 4], SIGUSR1);
        } while (fairsem_acquire_for(&sem, 1, 1000000) != 0);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(fairsem_available(&sem), 1 + atomic_load(&handled) - taken);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

static _Atomic int close_result;

static void close_it(int sig)
{
    int before = errno;

    atomic_store(&close_result, fairsem_close(handlers_sem, 4711));
    atomic_fetch_add(&handled, sig == SIGUSR1);
    errno = before;
}

/* A program that ends at Ctrl-C may close its semaphores in a handler.  Every wait returns the reason. */
START_TEST(a_handler_may_close_at_any_moment)
{
    static fairsem_t sem;
    struct worker w[3];
    pthread_t thread[3];

    handle(close_it, 0);
    handlers_sem = &sem;
    for (int round = 0; round < stress_times(60); round++) {
        make_interruptible(&sem, 1);
        atomic_store(&stop, 0);
        atomic_store(&handled, 0);
        for (int i = 0; i < 3; i++) {
            w[i] = (struct worker){ 0 };
            worker_start(&w[i], &sem, 2);       /* waits until the close */
            start_thread(&thread[i], take_and_give, &sem);
        }
        if (round % 2 == 0)
            moment();
        pthread_kill(round % 4 < 2 ? thread[round % 3] : w[round % 3].thread, SIGUSR1);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(worker_join(&w[i]), 4711);
        atomic_store(&stop, 1);
        for (int i = 0; i < 3; i++)
            pthread_join(thread[i], NULL);
        ck_assert_int_eq(close_result, 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

START_TEST(a_thread_that_sleeps_on_a_word_can_be_canceled_and_loses_no_unit)
{
    fairsem_t sem;

    make_interruptible(&sem, 0);
    for (int round = 0; round < stress_times(60); round++) {
        struct worker w = { 0 }, behind = { 0 };

        worker_queue(&w, &sem, 1, 1);
        worker_queue(&behind, &sem, 1, 2);
        for (int i = 0; i < round % 20 * 20; i++)
            moment();
        if (round % 2 == 0) {
            fairsem_release(&sem, 1);
            pthread_cancel(w.thread);
        } else {
            pthread_cancel(w.thread);
            fairsem_release(&sem, 1);
        }
        if (worker_join(&w) == 0)
            fairsem_release(&sem, 1);
        ck_assert_int_eq(worker_join(&behind), 0);
        ck_assert_int_eq(fairsem_available(&sem), 0);
    }
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(one_release_wakes_more_threads_than_a_list_of_words_holds)
{
    enum { MANY = 100 };
    fairsem_t sem;
    struct worker w[MANY];

    make_interruptible(&sem, 0);
    for (int i = 0; i < MANY; i++) {
        w[i] = (struct worker){ 0 };
        worker_queue(&w[i], &sem, 1, i + 1);
    }
    ck_assert_int_eq(fairsem_release(&sem, MANY), 0);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(worker_join(&w[i]), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(a_token_and_a_deadline_work_on_a_word_too)
{
    fairsem_t sem;
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct timespec monotonic = from_now(CLOCK_MONOTONIC, 20);
    struct timespec realtime = from_now(CLOCK_REALTIME, 20);
    struct asker a = { .how = { .token = &token } };

    make_interruptible(&sem, 0);
    ck_assert_int_eq(fairsem_acquire_until(&sem, 1, CLOCK_MONOTONIC, &monotonic), ETIMEDOUT);
    ck_assert_int_eq(fairsem_acquire_until(&sem, 1, CLOCK_REALTIME, &realtime), ETIMEDOUT);
    asker_queue(&a, &sem, 1, 1);
    ck_assert_int_eq(fairsem_token_cancel(&token, 4711), 0);
    ck_assert_int_eq(worker_join(&a.w), 4711);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

static void *wait_for_ticket(void *arg)
{
    struct asker *a = arg;

    atomic_store(&a->w.result, fairsem_ticket_wait((fairsem_ticket_t *)(void *)a->w.sem, NULL));
    return NULL;
}

START_TEST(an_interrupted_wait_for_a_ticket_keeps_its_place)
{
    fairsem_t sem;
    fairsem_ticket_t ticket = { 0 };
    struct asker a = { .w = { .sem = (fairsem_t *)(void *)&ticket, .result = STILL_WAITING } };

    handle(note, 0);
    make_interruptible(&sem, 0);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), EINPROGRESS);
    start_thread(&a.w.thread, wait_for_ticket, &a);
    signal_until(&a.w, &a.w.result);
    ck_assert_int_eq(worker_join(&a.w), EINTR);
    ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_WAITING);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    if (!can_be_interruptible())
        RUN_SUITE("interrupt", waiters_without_the_flag_are_not_interrupted_and_keep_their_places);
    /* In a system call that ThreadSanitizer does not know, it delays signals, and loses track of canceled
     * threads. */
    if (UNDER_TSAN)
        RUN_SUITE("interrupt", one_release_wakes_more_threads_than_a_list_of_words_holds,
                  a_token_and_a_deadline_work_on_a_word_too);
    RUN_SUITE("interrupt", a_handler_ends_the_wait_and_the_next_waiter_is_granted,
              a_handler_with_sa_restart_does_not_end_a_wait_without_a_deadline,
              waiters_without_the_flag_are_not_interrupted_and_keep_their_places,
              a_handler_may_release_what_its_own_thread_waits_for,
              a_handler_may_release_at_any_moment, a_handler_may_close_at_any_moment,
              a_thread_that_sleeps_on_a_word_can_be_canceled_and_loses_no_unit,
              one_release_wakes_more_threads_than_a_list_of_words_holds,
              a_token_and_a_deadline_work_on_a_word_too,
              an_interrupted_wait_for_a_ticket_keeps_its_place);
}
