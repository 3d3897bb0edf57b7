/* SPDX-License-Identifier: MIT */
/*
 * t_signals.c - what an interruptible semaphore does about a signal that comes while it holds
 * signals back: what another thread can take is left to it, what nobody else can take does
 * not hold up its own thread time and again, and no handler finds a lock taken or dies with one.
 *
 * The linker sends the library's unlock here first (--wrap), which is the moment when the
 * signal comes, and its naps, which are counted and take no time.
 */
#include "bare.h"
#include "suite.h"
#include "workers.h"

#include "section.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

static fairsem_t sem;           /* closed: every release of it takes the mutex */
static pthread_t tester;        /* who releases */
static void    (*come)(void);   /* sends the signal; may be NULL */
static int       naps;          /* of the tester */
static _Atomic int by_tester, by_other;

/* The other thread has SIGUSR2 blocked, but takes it when it is asked to. */
static bool        there_is_another;
static pthread_t   another;
static _Atomic bool take_it, stop;

static fairsem_t   handlers_sem;        /* what the handler releases */
static _Thread_local volatile sig_atomic_t in_handler;
static _Atomic bool signal_at_unlock, inside, canceled_now;

/* The signal comes; and a handler that is about to leave a critical section waits until it has
 * been canceled. */
BARE int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    if (come != NULL && m == &fs_inside(&sem)->mutex)
        come();
    if (in_handler) {
        atomic_store(&inside, true);
        while (!atomic_load(&canceled_now))
            continue;
        for (int i = 0; i < 1000; i++)
            sched_yield();
    }
    if (atomic_load(&signal_at_unlock)) {
        atomic_store(&signal_at_unlock, false);
        raise(SIGUSR1);
    }
    return __real_pthread_mutex_unlock(m);
}

/* The other thread runs, for as long as it needs. */
BARE int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)time;
    (void)left;
    naps++;
    if (there_is_another) {
        atomic_store(&take_it, true);
        while (atomic_load(&take_it))
            sched_yield();
    }
    return 0;
}

static void note(int sig)
{
    (void)sig;
    atomic_fetch_add(pthread_equal(pthread_self(), tester) ? &by_tester : &by_other, 1);
}

static void change_mask(int how, int sig)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, sig);
    pthread_sigmask(how, &set, NULL);
}

static void *take_when_asked(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop)) {
        if (atomic_load(&take_it)) {
            change_mask(SIG_UNBLOCK, SIGUSR2);
            change_mask(SIG_BLOCK, SIGUSR2);
            atomic_store(&take_it, false);
        }
        sched_yield();
    }
    return NULL;
}

static void begin(void)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_INTERRUPTIBLE };
    struct sigaction action = { .sa_handler = note };

    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(sigaction(SIGUSR2, &action, NULL), 0);
    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    ck_assert_int_eq(fairsem_close(&sem, 0), 0);
    tester = pthread_self();
    come = NULL;
    naps = 0;
    atomic_store(&by_tester, 0);
    atomic_store(&by_other, 0);
}

static void begin_with_another(void)
{
    begin();
    atomic_store(&stop, false);
    change_mask(SIG_BLOCK, SIGUSR2);
    start_thread(&another, take_when_asked, NULL);
    change_mask(SIG_UNBLOCK, SIGUSR2);
    there_is_another = true;
}

static void end_with_another(void)
{
    there_is_another = false;
    atomic_store(&stop, true);
    pthread_join(another, NULL);
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

static void usr2_to_the_thread(void)
{
    raise(SIGUSR2);
}

static void usr2_to_the_process(void)
{
    kill(getpid(), SIGUSR2);
}

static void both(void)
{
    usr1_to_the_thread();
    usr2_to_the_process();
}

/* As under a profiler with a timer for each thread.  20 naps each would be 20,000. */
START_TEST(signals_that_nobody_else_can_take_do_not_hold_up_their_thread_again_and_again)
{
    begin();
    for (int i = 1; i <= 1000; i++) {
        release_while(usr1_to_the_thread);
        ck_assert_int_eq(by_tester, i);
    }
    ck_assert_int_le(naps, 100);
    ck_assert_int_eq(fairsem_available(&sem), 1000);
}
END_TEST

START_TEST(a_signal_to_the_process_is_left_to_another_thread)
{
    begin_with_another();
    for (int i = 1; i <= 100; i++) {
        release_while(usr2_to_the_process);
        ck_assert_int_eq(by_other, i);
    }
    ck_assert_int_eq(by_tester, 0);
    end_with_another();
}
END_TEST

/* One number of which nobody could take the first thousand; of those that come later others
 * can take all, and the library finds that out by itself. */
START_TEST(what_nobody_else_could_take_is_left_to_others_again_when_they_can)
{
    int rounds = 0;

    begin_with_another();
    for (int i = 0; i < 1000; i++)
        release_while(usr2_to_the_thread);
    ck_assert_int_eq(by_tester, 1000);
    for (; by_other == 0 && rounds < 2000; rounds++)
        release_while(usr2_to_the_process);
    ck_assert_int_eq(by_tester + by_other, 1000 + rounds);
    for (int i = 1; i <= 50; i++) {
        release_while(usr2_to_the_process);
        ck_assert_int_eq(by_other, i + 1);
    }
    end_with_another();
}
END_TEST

START_TEST(a_signal_that_nobody_else_can_take_does_not_take_others_along)
{
    begin_with_another();
    for (int i = 0; i < 1000; i++)
        release_while(usr1_to_the_thread);
    naps = 0;
    for (int i = 1; i <= 50; i++) {
        release_while(both);
        ck_assert_int_eq(by_other, i);
        ck_assert_int_eq(by_tester, i + 1000);
    }
    ck_assert_int_le(naps, 100);
    end_with_another();
}
END_TEST

/* Both come for the first time, and one of them stays. */
START_TEST(a_signal_that_somebody_has_taken_is_left_to_others_the_next_time_too)
{
    begin_with_another();
    release_while(both);
    ck_assert_int_eq(by_tester, 1);
    for (int i = 1; i <= 10; i++) {
        ck_assert_int_eq(by_other, i);
        release_while(usr2_to_the_process);
    }
    end_with_another();
}
END_TEST

START_TEST(a_signal_that_the_thread_itself_has_blocked_is_not_waited_for)
{
    begin();
    change_mask(SIG_BLOCK, SIGUSR1);
    release_while(usr1_to_the_thread);
    ck_assert_int_eq(naps, 0);
    ck_assert_int_eq(by_tester, 0);
    change_mask(SIG_UNBLOCK, SIGUSR1);
    ck_assert_int_eq(by_tester, 1);
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

/* A sleep on a futex can be canceled at any instruction; a handler that interrupts it must
 * not, or it would take the mutex of what it releases to its grave. */
START_TEST(a_handler_is_not_canceled_while_it_has_a_lock)
{
    struct worker w = { 0 };

    prepare_handler();
    worker_queue(&w, &handlers_sem, FAIRSEM_MAX_UNITS, 1);  /* more than signals bring */
    while (!atomic_load(&inside)) {
        pthread_kill(w.thread, SIGUSR1);
        sched_yield();
    }
    pthread_cancel(w.thread);
    atomic_store(&canceled_now, true);
    ck_assert_int_eq(worker_join(&w), STILL_WAITING);
    ck_assert_int_ge(fairsem_available(&handlers_sem), 1);
    ck_assert_int_eq(fairsem_waiters(&handlers_sem), 0);
    ck_assert_int_eq(fairsem_destroy(&handlers_sem), 0);
}
END_TEST

/* In a forked child both the token and the handler's semaphore must be adopted. */
START_TEST(a_handler_may_release_while_something_is_adopted)
{
    static fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    pid_t child;
    int status = -1;

    prepare_handler();
    atomic_store(&canceled_now, true);  /* the handler need not wait */
    ck_assert_int_eq(fairsem_close(&handlers_sem, 0), 0);
    child = fork();
    if (child == 0) {
        alarm(60);
        atomic_store(&signal_at_unlock, true);
        fairsem_token_cancel(&token, 0);
        _exit(fairsem_available(&handlers_sem) == 1 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(a_system_without_futexes_says_so)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_INTERRUPTIBLE };
    fairsem_t one;

    ck_assert_int_eq(fairsem_init(&one, 0, &attr), FS_HAS_FUTEX ? 0 : ENOTSUP);
}
END_TEST

int main(void)
{
    /* ThreadSanitizer holds signals back by itself. */
    if (!FS_HAS_FUTEX || UNDER_TSAN)
        RUN_SUITE("signals", a_system_without_futexes_says_so);
    RUN_SUITE("signals", a_system_without_futexes_says_so,
              signals_that_nobody_else_can_take_do_not_hold_up_their_thread_again_and_again,
              a_signal_to_the_process_is_left_to_another_thread,
              what_nobody_else_could_take_is_left_to_others_again_when_they_can,
              a_signal_that_nobody_else_can_take_does_not_take_others_along,
              a_signal_that_somebody_has_taken_is_left_to_others_the_next_time_too,
              a_signal_that_the_thread_itself_has_blocked_is_not_waited_for,
              a_handler_is_not_canceled_while_it_has_a_lock,
              a_handler_may_release_while_something_is_adopted);
}
