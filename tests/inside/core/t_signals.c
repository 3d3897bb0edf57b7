/* SPDX-License-Identifier: MIT */
/*
 * t_signals.c - a signal comes in a critical section of an interruptible semaphore, and its handler runs
 * after the section.  So no handler finds a lock taken.  And no handler is canceled while it holds a lock.
 *
 * The linker redirects the library's unlock to this file (--wrap), which sends the signal.
 */
#include "bare.h"
#include "suite.h"
#include "workers.h"

#include "section.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);

static fairsem_t sem;           /* closed: every release of it takes the mutex */
static void    (*come)(void);   /* called before each unlock of that mutex; may be NULL */
static volatile sig_atomic_t section_lasts;         /* come() is being called */
static volatile sig_atomic_t runs, runs_inside;     /* numbers of runs of the handler */
static sigset_t  mask_inside;

static fairsem_t   handlers_sem;        /* what the handler releases */
static _Thread_local volatile sig_atomic_t in_handler;
static _Atomic bool signal_at_unlock, inside, canceled_now;

/* Send the signal.  In a handler, wait at the end of its critical section until the handler's thread has been
 * canceled. */
BARE int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    if (come != NULL && m == &fs_inside(&sem)->mutex) {
        section_lasts = 1;
        come();
        section_lasts = 0;
    }
    if (in_handler) {
        atomic_store(&inside, true);
        while (!atomic_load(&canceled_now))
            continue;
        for (int i = 0; i < 1000; i++)
            moment();
    }
    if (atomic_load(&signal_at_unlock)) {
        atomic_store(&signal_at_unlock, false);
        raise(SIGUSR1);
    }
    return __real_pthread_mutex_unlock(m);
}

static void note(int sig)
{
    (void)sig;
    runs++;
    runs_inside += section_lasts;
    come = NULL;
    fairsem_release(&sem, 1);
}

static void change_mask(int how, int sig)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, sig);
    pthread_sigmask(how, &set, NULL);
}

static void begin(void)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_INTERRUPTIBLE };
    struct sigaction action = { .sa_handler = note };

    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    ck_assert_int_eq(fairsem_close(&sem, 0), 0);
    come = NULL;
    runs = runs_inside = 0;
}

static void release_while(void (*comes)(void))
{
    come = comes;
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    come = NULL;
}

static void usr1_to_the_thread(void)
{
    raise(SIGUSR1);
}

static void note_the_mask(void)
{
    pthread_sigmask(SIG_SETMASK, NULL, &mask_inside);
}

/* The handler releases the same semaphore, and finds no lock taken. */
START_TEST(a_handler_runs_when_the_section_has_ended)
{
    begin();
    for (int i = 1; i <= 1000; i++) {
        release_while(usr1_to_the_thread);
        ck_assert_int_eq(runs, i);
    }
    ck_assert_int_eq(runs_inside, 0);
    ck_assert_int_eq(fairsem_available(&sem), 2000);
}
END_TEST

static const int kept_out[] = { SIGUSR1, SIGUSR2, SIGINT, SIGALRM, SIGCHLD, SIGPROF };

/* A blocked SIGSEGV would end the process, without the program's handler. */
START_TEST(a_section_blocks_all_signals_except_those_that_a_thread_causes_itself)
{
    static const int let_in[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };

    begin();
    release_while(note_the_mask);
    for (size_t i = 0; i < sizeof let_in / sizeof let_in[0]; i++)
        ck_assert_int_eq(sigismember(&mask_inside, let_in[i]), 0);
    for (size_t i = 0; i < sizeof kept_out / sizeof kept_out[0]; i++)
        ck_assert_int_eq(sigismember(&mask_inside, kept_out[i]), 1);
    ck_assert_int_eq(runs, 0);
}
END_TEST

static void note_the_mask_of_a_callback(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    (void)arg;
    note_the_mask();
}

/* A callback is the user's code, and may take long. */
START_TEST(a_callback_runs_with_signals_unblocked)
{
    fairsem_ticket_t ticket = { 0 };

    begin();
    ck_assert_int_eq(fairsem_init(&handlers_sem, 0,
                                  &(fairsem_attr_t){ .flags = FAIRSEM_INTERRUPTIBLE }), 0);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &handlers_sem, 1, 0,
                                         note_the_mask_of_a_callback, NULL), EINPROGRESS);
    sigfillset(&mask_inside);
    ck_assert_int_eq(fairsem_release(&handlers_sem, 1), 0);
    for (size_t i = 0; i < sizeof kept_out / sizeof kept_out[0]; i++)
        ck_assert_int_eq(sigismember(&mask_inside, kept_out[i]), 0);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_destroy(&handlers_sem), 0);
}
END_TEST

START_TEST(signals_that_the_thread_has_blocked_stay_blocked)
{
    begin();
    change_mask(SIG_BLOCK, SIGUSR1);
    release_while(usr1_to_the_thread);
    ck_assert_int_eq(runs, 0);
    change_mask(SIG_UNBLOCK, SIGUSR1);
    ck_assert_int_eq(runs, 1);
}
END_TEST

/* ---------------------------------------------------------------- handlers that release */

static void release_in_handler(int sig)
{
    (void)sig;
    in_handler = atomic_load(&canceled_now) ? 0 : 1;
    fairsem_release(&handlers_sem, 1);
    in_handler = 0;
}

static void prepare_handler(void)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_INTERRUPTIBLE };
    struct sigaction action = { .sa_handler = release_in_handler, .sa_flags = SA_RESTART };

    ck_assert_int_eq(fairsem_init(&handlers_sem, 0, &attr), 0);
    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
}

/* A sleep on a futex can be canceled at any instruction.  A handler that interrupts the sleep must not be
 * canceled: its thread would end while it holds the mutex of the semaphore that the handler releases. */
START_TEST(a_handler_is_not_canceled_while_it_holds_a_lock)
{
    struct worker first = { 0 }, w = { 0 };

    prepare_handler();
    worker_queue(&first, &handlers_sem, 1, 1);
    worker_queue(&w, &handlers_sem, FAIRSEM_MAX_UNITS, 2);  /* more than the handlers release */
    while (!atomic_load(&inside)) {
        pthread_kill(w.thread, SIGUSR1);
        moment();
    }
    pthread_cancel(w.thread);
    atomic_store(&canceled_now, true);
    ck_assert_int_eq(worker_join(&w), STILL_WAITING);
    ck_assert_int_eq(worker_join(&first), 0);
    ck_assert_int_eq(fairsem_waiters(&handlers_sem), 0);
    ck_assert_int_eq(fairsem_destroy(&handlers_sem), 0);
}
END_TEST

/* In a forked child, the first use of an object resets it (fork.h), here of the token and of handlers_sem. */
START_TEST(a_handler_may_release_during_the_first_use_of_a_token_in_a_child)
{
    static fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    pid_t child;
    int status = -1;

    prepare_handler();
    atomic_store(&canceled_now, true);  /* so that the handler does not wait */
    ck_assert_int_eq(fairsem_close(&handlers_sem, 0), 0);
    child = fork();
    if (child == 0) {
        hang_alarm();
        atomic_store(&signal_at_unlock, true);
        fairsem_token_cancel(&token, 0);
        _exit(fairsem_available(&handlers_sem) == 1 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(a_system_without_futexes_has_no_interruptible_semaphores)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_INTERRUPTIBLE };
    fairsem_t one;

    ck_assert_int_eq(fairsem_init(&one, 0, &attr), FS_HAS_FUTEX ? 0 : ENOTSUP);
}
END_TEST

static int sections;

static void usr1_in_the_second(void)
{
    if (++sections == 2)
        raise(SIGUSR1);
}

static void end_the_thread(int sig)
{
    (void)sig;
    pthread_exit(NULL);
}

static void *drain(void *arg)
{
    return fairsem_drain(&sem, 1, NULL) == 0 ? arg : NULL;
}

/* A drain takes nothing, so its clean-up returns nothing.  The second section of the drain enqueues it. */
START_TEST(a_handler_that_ends_a_thread_in_a_drain_makes_no_unit)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_INTERRUPTIBLE };
    struct sigaction action = { .sa_handler = end_the_thread };
    pthread_t thread;
    void *returned;

    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(fairsem_init(&sem, 1, &attr), 0);
    sections = 0;
    come = usr1_in_the_second;
    start_thread(&thread, drain, &sem);
    pthread_join(thread, &returned);
    come = NULL;
    ck_assert_ptr_null(returned);
    ck_assert_int_eq(sections, 3);      /* the third is the clean-up's */
    ck_assert_int_eq(fairsem_available(&sem), 1);
}
END_TEST

int main(void)
{
    /* ThreadSanitizer defers signals by itself. */
    if (!FS_HAS_FUTEX || UNDER_TSAN)
        RUN_SUITE("signals", a_system_without_futexes_has_no_interruptible_semaphores);
    RUN_SUITE("signals", a_system_without_futexes_has_no_interruptible_semaphores,
              a_handler_runs_when_the_section_has_ended,
              a_callback_runs_with_signals_unblocked,
              a_section_blocks_all_signals_except_those_that_a_thread_causes_itself,
              signals_that_the_thread_has_blocked_stay_blocked,
              a_handler_is_not_canceled_while_it_holds_a_lock,
              a_handler_may_release_during_the_first_use_of_a_token_in_a_child,
              a_handler_that_ends_a_thread_in_a_drain_makes_no_unit);
}
