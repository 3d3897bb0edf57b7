/* SPDX-License-Identifier: MIT */
/*
 * t_posix_signals.c - a handler without SA_RESTART ends a wait with EINTR.  A handler may call
 * sem_post, whatever it has interrupted.
 */
#include "callers.h"
#include "stress.h"

#include <signal.h>
#include <stdio.h>

static sem_t       *handlers_sem;       /* what the handler posts */
static int          handlers_posts;     /* how often */
static _Atomic int  begun, handled, handlers_faults;

static void note(int sig)
{
    (void)sig;
    atomic_fetch_add(&handled, 1);
}

static void post_some(int sig)
{
    int before = errno;

    (void)sig;
    atomic_fetch_add(&begun, 1);
    errno = NOT_CHANGED;
    for (int i = 0; i < handlers_posts; i++) {
        if (sem_post(handlers_sem) != 0 || errno != NOT_CHANGED)
            atomic_fetch_add(&handlers_faults, 1);
    }
    atomic_fetch_add(&handled, 1);
    errno = before;
}

/* SIGUSR1 runs `handler`, with these flags. */
static void handle(void (*handler)(int), int flags)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    atomic_store(&begun, 0);
    atomic_store(&handled, 0);
    atomic_store(&handlers_faults, 0);
    handlers_posts = 1;
}

/* Signal until its wait has returned: the handler may have run before the sleep. */
static void signal_until_result(struct caller *c)
{
    while (atomic_load(&c->result) == STILL_WAITING) {
        pthread_kill(c->thread, SIGUSR1);
        moment();
    }
}

/* The next waiter moves up, and no unit is lost. */
START_TEST(a_handler_without_sa_restart_ends_a_wait_with_eintr)
{
    sem_t sem;

    handle(note, 0);
    ck_assert_works(sem_init(&sem, 0, 0));
    for (int how = 0; how < WAYS; how++) {
        struct caller c = { 0 }, behind = { 0 };

        caller_queue(&c, &sem, (enum how)how, 1);
        caller_queue(&behind, &sem, WAIT, 2);
        signal_until_result(&c);
        ck_assert_int_eq(caller_join(&c), EINTR);
        ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 1);
        ck_assert_int_eq(value_of(&sem), 0);
        ck_assert_works(sem_post(&sem));
        ck_assert_int_eq(caller_join(&behind), 0);
        ck_assert_int_eq(value_of(&sem), 0);
    }
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

START_TEST(a_handler_with_sa_restart_does_not_end_a_wait)
{
    struct caller c = { 0 };
    sem_t sem;

    handle(note, SA_RESTART);
    ck_assert_works(sem_init(&sem, 0, 0));
    caller_queue(&c, &sem, WAIT, 1);
    for (int i = 1; i <= 200; i++) {
        pthread_kill(c.thread, SIGUSR1);
        while (atomic_load(&handled) < i)
            moment();
        ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 1);
    }
    ck_assert_works(sem_post(&sem));
    ck_assert_int_eq(caller_join(&c), 0);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

/* The oldest waiter's own handler grants to it, and then must not count as an interruption. */
START_TEST(a_handler_may_post_what_its_own_thread_is_first_to_wait_for)
{
    for (int round = 0; round < stress_times(60); round++) {
        struct caller c = { 0 }, behind = { 0 };
        static sem_t sem;

        handle(post_some, round % 2 == 0 ? 0 : SA_RESTART);
        handlers_sem = &sem;
        ck_assert_works(sem_init(&sem, 0, 0));
        caller_queue(&c, &sem, (enum how)(round / 2 % WAYS), 1);
        caller_queue(&behind, &sem, WAIT, 2);
        pthread_kill(c.thread, SIGUSR1);
        ck_assert_int_eq(caller_join(&c), 0);
        ck_assert_int_eq(atomic_load(&handlers_faults), 0);
        ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 1);
        ck_assert_works(sem_post(&sem));
        ck_assert_int_eq(caller_join(&behind), 0);
        ck_assert_int_eq(value_of(&sem), 0);
        ck_assert_works(sem_destroy(&sem));
    }
}
END_TEST

static void storm(int flags)
{
    static sem_t sem;
    pthread_t thread[4];
    int taken;

    handle(post_some, flags);
    ck_assert_works(sem_init(&sem, 0, 1));
    handlers_sem = &sem;
    for (int i = 0; i < 4; i++)
        start_thread(&thread[i], take_and_give, &sem);
    for (taken = 0; taken < stress_times(2000); taken++) {
        struct timespec soon;

        /* The units that the handlers add are taken, so that a thread always waits.  The kernel may
         * merge two signals: then send another. */
        do {
            pthread_kill(thread[taken % 4], SIGUSR1);
            soon = from_now(CLOCK_REALTIME, 1);
        } while (sem_timedwait(&sem, &soon) != 0);
    }
    atomic_store(&stop, 1);
    ck_assert_works(sem_post(&sem));        /* all may have been taken: for the last waits */
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(atomic_load(&handlers_faults), 0);
    ck_assert_int_eq(value_of(&sem), 2 + atomic_load(&handled) - taken);
    ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 0);
    ck_assert_works(sem_destroy(&sem));
}

/* The handler interrupts sem_wait, sem_post and the others on the same semaphore. */
START_TEST(a_handler_may_post_whatever_it_interrupted)
{
    storm(0);
}
END_TEST

START_TEST(a_handler_with_sa_restart_may_post_whatever_it_interrupted)
{
    storm(SA_RESTART);
}
END_TEST

static void *take_until_stopped(void *arg)
{
    while (!atomic_load(&stop))
        sem_wait(arg);
    return NULL;
}

/*
 * A thread sleeps, a handler interrupts it and posts, and there the thread is canceled.  A post is
 * no cancellation point, in a handler either: it must not end half done, with the semaphore locked
 * for ever or a granted thread not woken.
 */
START_TEST(a_cancellation_does_not_act_in_a_post_of_a_handler)
{
    static sem_t asleep, posted;
    pthread_t taker[3];

    /* On an emulator a program without semaphores crashes here, too, or skips a cleanup handler. */
    if (emulated())
        NOT_HERE("an emulator cannot unwind a thread from every instruction of a handler");
    handle(post_some, SA_RESTART);
    handlers_posts = 10;
    handlers_sem = &posted;
    ck_assert_works(sem_init(&asleep, 0, 0));
    ck_assert_works(sem_init(&posted, 0, 0));
    for (int i = 0; i < 3; i++)
        start_thread(&taker[i], take_until_stopped, &posted);
    for (int round = 0; round < stress_times(1500); round++) {
        struct caller c = { 0 };

        await_waiters(&posted.fairsem_inside_, 3);
        ck_assert_int_eq(value_of(&posted), 0);
        caller_queue(&c, &asleep, (enum how)(round % WAYS), 1);
        pthread_kill(c.thread, SIGUSR1);
        while (atomic_load(&begun) == round)
            moment();
        for (int i = 0; i < 4; i++)     /* about as long as the handler takes */
            dawdle(round);
        pthread_cancel(c.thread);
        caller_join(&c);
        ck_assert_int_eq(fairsem_waiters(&asleep.fairsem_inside_), 0);
    }
    await_waiters(&posted.fairsem_inside_, 3);
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++)
        ck_assert_works(sem_post(&posted));
    for (int i = 0; i < 3; i++)
        pthread_join(taker[i], NULL);
    ck_assert_int_eq(atomic_load(&handlers_faults), 0);
    ck_assert_works(sem_destroy(&posted));
    ck_assert_works(sem_destroy(&asleep));
}
END_TEST

int main(void)
{
    if (has_no_sem_t())
        return SKIPPED;
    if (UNDER_TSAN)
        return program_not_here("ThreadSanitizer delays signals by itself");
    RUN_SUITE("posix signals", a_handler_without_sa_restart_ends_a_wait_with_eintr,
              a_handler_with_sa_restart_does_not_end_a_wait,
              a_handler_may_post_what_its_own_thread_is_first_to_wait_for,
              a_handler_may_post_whatever_it_interrupted,
              a_handler_with_sa_restart_may_post_whatever_it_interrupted,
              a_cancellation_does_not_act_in_a_post_of_a_handler);
}
