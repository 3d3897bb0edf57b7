/* SPDX-License-Identifier: MIT */
/*
 * t_posix_signals.c - a handler without SA_RESTART ends a wait with EINTR, in each way to wait.
 *
 * A sem_t contains an interruptible semaphore, which t_interrupt.c and t_signals.c test.
 */
#include "callers.h"

#include <signal.h>

static _Atomic int handled;

static void note(int sig)
{
    (void)sig;
    atomic_fetch_add(&handled, 1);
}

static void handle(int flags)
{
    struct sigaction action = { .sa_handler = note, .sa_flags = flags };

    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
}

/* The next waiter comes to the front, and no unit is lost. */
START_TEST(a_handler_without_sa_restart_ends_a_wait_with_eintr)
{
    sem_t sem;

    handle(0);
    ck_assert_works(sem_init(&sem, 0, 0));
    for (int how = 0; how < WAYS; how++) {
        struct caller c = { 0 }, behind = { 0 };

        caller_queue(&c, &sem, (enum how)how, 1);
        caller_queue(&behind, &sem, WAIT, 2);
        /* Repeat the signal until the wait has returned: a handler may have run before the sleep. */
        while (atomic_load(&c.result) == STILL_WAITING) {
            pthread_kill(c.thread, SIGUSR1);
            moment();
        }
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

    handle(SA_RESTART);
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

int main(void)
{
    if (has_no_sem_t())
        return SKIPPED;
    if (UNDER_TSAN)
        return program_not_here("ThreadSanitizer delays signals by itself");
    RUN_SUITE("posix signals", a_handler_without_sa_restart_ends_a_wait_with_eintr,
              a_handler_with_sa_restart_does_not_end_a_wait);
}
