/* SPDX-License-Identifier: MIT */
/*
 * t_wake_many.c - one release wakes many sleepers, which help: the caller wakes a few, and each of
 * the others is woken by one that was woken before (park_cond.c).  Nobody is left out: not if one
 * that is to help is awake, nor if it is canceled in its sleep.
 *
 * The linker sends the library's calls of these functions here first (--wrap).
 */
#include "restless.h"
#include "suite.h"
#include "workers.h"

#include "deferred.h"

#include <stdbool.h>

enum {
    MOST = 60,
    CALLERS = 9     /* so many does the caller wake if all sleep: eight, and one that helps */
};

static _Atomic int asleep;          /* so many threads are in pthread_cond_wait */
static _Atomic int signals;         /* of condition variables, in all */
static _Atomic int most_signals;    /* by one thread, except the caller */
static _Atomic int granted;         /* so many waits of sleepers have ended */
static _Thread_local int own_signals;
static _Thread_local bool caller;
static struct worker *to_cancel;    /* instead of the caller's last wake */
static void (*before_wakes)(void);

int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    int result;

    /* With the mutex, so a waker finds the thread asleep. */
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
    if (!caller && own_signals > atomic_load(&most_signals))
        atomic_store(&most_signals, own_signals);
    if (caller && own_signals == CALLERS && to_cancel != NULL)
        return pthread_cancel(to_cancel->thread);
    return __real_pthread_cond_signal(c);
}

void __real_fs_wake_queue_run(struct fs_wake_queue *wakes);
void __wrap_fs_wake_queue_run(struct fs_wake_queue *wakes);
void __wrap_fs_wake_queue_run(struct fs_wake_queue *wakes)
{
    if (caller && before_wakes != NULL)
        before_wakes();
    __real_fs_wake_queue_run(wakes);
}

/* Its waiters sleep at once.  Returns false if they sleep on futexes: then waiters do not help. */
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
    atomic_store(&most_signals, 0);
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
        own_signals = 0;
        atomic_fetch_add(&granted, 1);
    }
    return NULL;
}

/* In each round fewer sleep, so that a link of the round before would lead to another thread. */
START_TEST(of_many_sleepers_the_caller_wakes_nine_and_each_of_them_at_most_two)
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
        ck_assert_int_eq(own_signals, n < CALLERS ? n : CALLERS);
        expected += n;
        while (atomic_load(&granted) != expected)
            moment();
        ck_assert_int_eq(atomic_load(&signals), n);
        ck_assert_int_le(atomic_load(&most_signals), 2);
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

/* Two of three have seen their grants and gone on before the first wake, also the one that is to
 * help first. */
START_TEST(the_caller_wakes_those_that_one_was_to_wake_that_is_awake)
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

/* The ninth is canceled in the moment when it is to wake up and help. */
START_TEST(a_thread_that_is_canceled_in_its_sleep_helps_as_well)
{
    fairsem_t sem;
    struct worker w[MOST] = { { 0 } };

    BEGIN_ON_CONDITION_VARIABLES(&sem);
    for (int i = 0; i < MOST; i++)
        worker_queue(&w[i], &sem, 1, i + 1);
    await_asleep(MOST);
    to_cancel = &w[CALLERS - 1];
    release_as_caller(&sem, MOST);
    for (int i = 0; i < MOST; i++)
        ck_assert_int_eq(worker_join(&w[i]), i == CALLERS - 1 ? STILL_WAITING : 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("wake many", of_many_sleepers_the_caller_wakes_nine_and_each_of_them_at_most_two,
              the_caller_wakes_those_that_one_was_to_wake_that_is_awake,
              a_thread_that_is_canceled_in_its_sleep_helps_as_well);
}
