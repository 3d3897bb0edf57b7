/* SPDX-License-Identifier: MIT */
/*
 * t_wake_many.c - the releasing thread itself wakes each of many sleepers.  No sleeper depends on a sleeper
 * that was woken earlier.
 *
 * The linker redirects the library's calls of these functions to this file (--wrap).
 */
#include "bare.h"
#include "restless.h"
#include "suite.h"
#include "workers.h"

#include "deferred.h"

#include <signal.h>
#include <stdbool.h>

enum { MOST = 60 };

static _Atomic int asleep;          /* threads in pthread_cond_wait */
static pthread_mutex_t *_Atomic sleeps_with;    /* the mutex of the last pthread_cond_wait */
static _Atomic int signals;         /* calls of pthread_cond_signal, by all threads */
static _Atomic int granted;         /* waits of sleepers that have ended */
static _Thread_local int own_signals;
static _Thread_local bool caller;
static struct worker *to_cancel;    /* canceled before the caller's first wake */
static void (*before_wakes)(void);

int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    int result;

    /* Stored while the mutex is held, so that a waker finds the thread asleep. */
    atomic_store(&sleeps_with, m);
    atomic_fetch_add(&asleep, 1);
    result = __real_pthread_cond_wait(c, m);
    atomic_fetch_sub(&asleep, 1);
    return result;
}

int __real_pthread_cond_signal(pthread_cond_t *c);
int __wrap_pthread_cond_signal(pthread_cond_t *c);
int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
    atomic_fetch_add(&signals, 1);
    own_signals++;
    if (caller && own_signals == 1 && to_cancel != NULL)
        pthread_cancel(to_cancel->thread);
    return __real_pthread_cond_signal(c);
}

/* Unlocks of *sleeps_with that make a system call to wake a thread. */
static _Atomic int costly_unlocks;

int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
BARE int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
#if defined(__GLIBC__)
    if (m == atomic_load(&sleeps_with) && *(const _Atomic int *)(const void *)m > 1)
        atomic_fetch_add(&costly_unlocks, 1);
#endif
    return __real_pthread_mutex_unlock(m);
}

void __real_fs_wake_queue_run(struct fs_wake_queue *wakes);
void __wrap_fs_wake_queue_run(struct fs_wake_queue *wakes);
void __wrap_fs_wake_queue_run(struct fs_wake_queue *wakes)
{
    if (caller && before_wakes != NULL)
        before_wakes();
    __real_fs_wake_queue_run(wakes);
}

/* Initialize a semaphore whose waiters sleep at once.  Returns false if they sleep on futexes. */
static bool init(fairsem_t *sem)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_NO_SPIN };

    if (FS_HAS_FUTEX && UNDER_RACE_DETECTOR)
        return false;
    atomic_store(&asleep, 0);
    atomic_store(&granted, 0);
    to_cancel = NULL;
    before_wakes = NULL;
    ck_assert_int_eq(fairsem_init(sem, 0, &attr), 0);
    return true;
}

#define BEGIN_ON_CONDITION_VARIABLES(sem)           \
    do {                                            \
        if (!init(sem))                             \
            NOT_HERE("threads sleep on futexes");  \
    } while (0)

static void await_asleep(int n)
{
    while (atomic_load(&asleep) != n)
        moment();
}

static void release_as_caller(fairsem_t *sem, int64_t n)
{
    atomic_store(&signals, 0);
    own_signals = 0;
    caller = true;
    ck_assert_int_eq(fairsem_release(sem, n), 0);
    caller = false;
}

struct sleeper {
    pthread_t  thread;
    fairsem_t *sem;
    int        rounds;
};

static void *sleep_again_and_again(void *arg)
{
    struct sleeper *s = arg;

    for (int i = 0; i < s->rounds; i++) {
        insist(0, fairsem_acquire(s->sem, 1));
        atomic_fetch_add(&granted, 1);
    }
    return NULL;
}

/* Each round has fewer sleepers, so that a stale link of an earlier round would lead to a wrong thread. */
START_TEST(the_caller_wakes_each_of_many_sleepers)
{
    enum { ROUNDS = 6 };
    fairsem_t sem;
    struct sleeper s[MOST];
    int expected = 0;

    BEGIN_ON_CONDITION_VARIABLES(&sem);
    for (int i = 0; i < MOST; i++) {
        s[i] = (struct sleeper){ .sem = &sem, .rounds = ROUNDS - i % ROUNDS };
        start_thread(&s[i].thread, sleep_again_and_again, &s[i]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        const int n = MOST - round * (MOST / ROUNDS);

        await_asleep(n);
        release_as_caller(&sem, n);
        ck_assert_int_eq(own_signals, n);
        expected += n;
        while (atomic_load(&granted) != expected)
            moment();
        ck_assert_int_eq(atomic_load(&signals), n);
    }
    for (int i = 0; i < MOST; i++)
        pthread_join(s[i].thread, NULL);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

static void *wait_restless(void *arg)
{
    restless = true;
    return sleep_again_and_again(arg);
}

static void await_restless(void)
{
    while (atomic_load(&granted) != MOST - MOST / 3)
        moment();
}

/* Two of three waiters have seen their grants and gone on before the first wake. */
START_TEST(the_caller_wakes_the_threads_that_still_sleep)
{
    fairsem_t sem;
    struct sleeper s[MOST];

    BEGIN_ON_CONDITION_VARIABLES(&sem);
    for (int i = 0; i < MOST; i++) {
        s[i] = (struct sleeper){ .sem = &sem, .rounds = 1 };
        start_thread(&s[i].thread, i % 3 != 0 ? wait_restless : sleep_again_and_again, &s[i]);
        await_waiters(&sem, i + 1);
    }
    await_asleep(MOST / 3);
    before_wakes = await_restless;
    release_as_caller(&sem, MOST);
    for (int i = 0; i < MOST; i++)
        pthread_join(s[i].thread, NULL);
    ck_assert_int_eq(atomic_load(&signals), MOST / 3);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* The wait on the condition variable has marked the thread's mutex as contended. */
START_TEST(a_woken_thread_makes_no_system_call_to_wake_another)
{
    fairsem_t sem;
    struct worker w[8] = { { 0 } };

    BEGIN_ON_CONDITION_VARIABLES(&sem);
#if !defined(__GLIBC__)
    NOT_HERE("mutexes of this C library are not known");
#endif
    if (UNDER_TSAN)
        NOT_HERE("a tool that watches mutexes must see the unlock");
    for (int i = 0; i < 8; i++) {
        worker_queue(&w[i], &sem, 1, 1);
        await_asleep(1);
        /* Once this lock succeeds, the thread has released the mutex, and sleeps. */
        pthread_mutex_lock(atomic_load(&sleeps_with));
        pthread_mutex_unlock(atomic_load(&sleeps_with));
        atomic_store(&costly_unlocks, 0);
        release_as_caller(&sem, 1);
        ck_assert_int_eq(worker_join(&w[i]), 0);
        ck_assert_int_eq(atomic_load(&costly_unlocks), 0);
    }
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(a_thread_that_is_canceled_while_the_caller_wakes_keeps_no_other_asleep)
{
    fairsem_t sem;
    struct worker w[MOST] = { { 0 } };
    int canceled = 0;

    BEGIN_ON_CONDITION_VARIABLES(&sem);
    for (int i = 0; i < MOST; i++)
        worker_queue(&w[i], &sem, 1, i + 1);
    await_asleep(MOST);
    to_cancel = &w[MOST / 2];
    release_as_caller(&sem, MOST);
    for (int i = 0; i < MOST; i++) {
        int result = worker_join(&w[i]);

        canceled += result == STILL_WAITING;
        ck_assert(result == 0 || i == MOST / 2);
    }
    ck_assert_int_eq(fairsem_available(&sem), canceled);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* A signal handler interrupts a sleep, and does not return before another wait has ended. */
static _Atomic int in_handler;
static struct worker *_Atomic awaited;

static void handle(int signal)
{
    (void)signal;
    atomic_store(&in_handler, 1);
    while (atomic_load(&awaited->result) == STILL_WAITING)
        moment();
}

static void one_in_a_handler_waits_for(int other, int in_a_handler)
{
    const struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    fairsem_t sem;
    struct worker w[MOST] = { { 0 } };

    ck_assert(init(&sem));
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    for (int i = 0; i < MOST; i++)
        worker_queue(&w[i], &sem, 1, i + 1);
    await_asleep(MOST);
    atomic_store(&in_handler, 0);
    awaited = &w[other];
    pthread_kill(w[in_a_handler].thread, SIGUSR1);
    while (!atomic_load(&in_handler))
        moment();
    release_as_caller(&sem, MOST);
    for (int i = 0; i < MOST; i++)
        ck_assert_int_eq(worker_join(&w[i]), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}

START_TEST(a_wake_depends_on_no_other_waiter)
{
    fairsem_t sem;

    BEGIN_ON_CONDITION_VARIABLES(&sem);
    one_in_a_handler_waits_for(MOST - 1, 0);
    one_in_a_handler_waits_for(9, 8);
    one_in_a_handler_waits_for(10, 8);
    one_in_a_handler_waits_for(0, MOST - 1);
}
END_TEST

int main(void)
{
    RUN_SUITE("wake many", the_caller_wakes_each_of_many_sleepers,
              the_caller_wakes_the_threads_that_still_sleep,
              a_woken_thread_makes_no_system_call_to_wake_another,
              a_thread_that_is_canceled_while_the_caller_wakes_keeps_no_other_asleep,
              a_wake_depends_on_no_other_waiter);
}
