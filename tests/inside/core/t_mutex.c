/* SPDX-License-Identifier: MIT */
/* t_mutex.c - a thread retries, yields and polls before it sleeps on a mutex that another thread holds. */
#include "suite.h"

#include "system/deadline.h"
#include "system/mutex.h"
#include "system/system.h"

#include <errno.h>
#include <sched.h>

#define TRIES     6     /* tries before the yield */
#define POLLS      50
#define POLLS_IF_REAL_TIME 3

static struct {
    int  free_at;       /* number of the try that finds the mutex free */
    bool takes_turns, sandbox;
    int  cores;
    int  tries, yields, naps, sleeps;
} world;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int __real_pthread_mutex_trylock(pthread_mutex_t *m);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *m);
int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
bool __wrap_fs_cpu_is_time_shared(void);
int __wrap_fs_cpu_count(void);
void __wrap_fs_sleep_shortly(int64_t ns);
int __wrap_sched_yield(void);

int __wrap_pthread_mutex_trylock(pthread_mutex_t *m)
{
    if (m != &mutex)
        return __real_pthread_mutex_trylock(m);
    return ++world.tries == world.free_at ? 0 : EBUSY;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    if (m != &mutex)
        return __real_pthread_mutex_lock(m);
    world.sleeps++;
    return 0;
}

bool __wrap_fs_cpu_is_time_shared(void)
{
    return world.takes_turns;
}

int __wrap_fs_cpu_count(void)
{
    return world.cores;
}

void __wrap_fs_sleep_shortly(int64_t ns)
{
    ck_assert_int_gt(ns, 0);
    world.naps++;
}

int __wrap_sched_yield(void)
{
    world.yields++;
    if (!world.sandbox)
        return 0;
    errno = EPERM;
    return -1;
}

static void assert_locks(int tries, int yields, int sleeps)
{
    world.tries = world.yields = world.naps = world.sleeps = 0;
    errno = 0;
    fs_mutex_lock(&mutex);
    ck_assert_int_eq(errno, 0);
    ck_assert_int_eq(world.tries, tries);
    ck_assert_int_eq(world.yields, yields);
    ck_assert_int_eq(world.sleeps, sleeps);
}

START_TEST(a_thread_retries_then_yields_once_then_polls_and_sleeps_in_the_end)
{
    world.takes_turns = true;
    world.cores = 4;
    for (world.free_at = 1; world.free_at <= TRIES; world.free_at++)
        assert_locks(world.free_at, 0, 0);
    assert_locks(TRIES + 1, 1, 0);
    for (world.free_at = TRIES + 2; world.free_at <= TRIES + 1 + POLLS; world.free_at++) {
        assert_locks(world.free_at, 1, 0);
        ck_assert_int_eq(world.naps, world.free_at - TRIES - 1);
    }
    assert_locks(TRIES + 1 + POLLS, 1, 1);
}
END_TEST

/* The thread has a real-time priority, which the holder inherits when the thread sleeps. */
START_TEST(a_thread_that_would_yield_to_nobody_sleeps)
{
    world.cores = 4;
    assert_locks(TRIES, 0, 1);
    ck_assert_int_eq(world.naps, 0);
    world.takes_turns = true;           /* after a real-time thread, other threads poll less */
    assert_locks(TRIES + 1 + POLLS_IF_REAL_TIME, 1, 1);
}
END_TEST

START_TEST(with_few_cores_a_thread_spins_for_longer_and_does_not_poll)
{
    world.takes_turns = true;
    world.cores = 3;
    assert_locks(TRIES + 2, 1, 1);
    ck_assert_int_eq(world.naps, 0);
}
END_TEST

START_TEST(a_thread_polls_at_once_if_a_sandbox_forbids_to_yield)
{
    world.takes_turns = world.sandbox = true;
    world.cores = 4;
    assert_locks(TRIES + POLLS, 1, 1);
}
END_TEST

int main(void)
{
    RUN_SUITE("mutex", a_thread_retries_then_yields_once_then_polls_and_sleeps_in_the_end,
              a_thread_that_would_yield_to_nobody_sleeps,
              with_few_cores_a_thread_spins_for_longer_and_does_not_poll,
              a_thread_polls_at_once_if_a_sandbox_forbids_to_yield);
}
