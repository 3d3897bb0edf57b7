/* SPDX-License-Identifier: MIT */
/* t_lifetime.c - how semaphores begin and end, and waits of threads and processes that are ending. */
#include "children.h"
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <string.h>

START_TEST(a_static_initializer_needs_no_call)
{
    static fairsem_t sem = FAIRSEM_INITIALIZER(2);
    struct worker w = { 0 };

    ck_assert_int_eq((int)((uintptr_t)&sem % 16), 0);
    worker_queue(&w, &sem, 3, 1);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w), 0);
}
END_TEST

START_TEST(a_static_semaphore_can_have_a_capacity)
{
    static fairsem_t sem = FAIRSEM_INITIALIZER_BOUNDED(2, 3);
    fairsem_stat_t stat;

    ck_assert_int_eq(fairsem_capacity(&sem), 3);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 4), E2BIG);
    ck_assert_int_eq(fairsem_release(&sem, 2), EOVERFLOW);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 0), 0);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 1), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
    ck_assert_int_eq(stat.capacity, 1);
    ck_assert_int_eq(stat.over_releases, 2);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* The program knows only the pointer; size and alignment are the library's choice. */
START_TEST(an_allocated_semaphore_is_like_any_other_and_has_cache_lines_of_its_own)
{
    const fairsem_attr_t attr = { .capacity = 2 };
    fairsem_t *sem = NULL;
    struct worker w = { 0 };

    ck_assert_int_eq(fairsem_new(&sem, 1, &attr), 0);
    ck_assert_uint_eq((uintptr_t)sem % 64, 0);
    ck_assert_int_eq(fairsem_capacity(sem), 2);
    worker_queue(&w, sem, 2, 1);
    ck_assert_int_eq(fairsem_release(sem, 1), 0);
    ck_assert_int_eq(worker_join(&w), 0);
    fairsem_free(sem);
    fairsem_free(NULL);
}
END_TEST

struct relay {
    _Atomic(fairsem_t *) sem;   /* of this round; NULL between rounds */
    _Atomic int          stop;
};

static void *release_what_comes(void *arg)
{
    struct relay *relay = arg;

    while (!atomic_load(&relay->stop)) {
        fairsem_t *sem = atomic_exchange(&relay->sem, NULL);

        if (sem != NULL)
            fairsem_release(sem, 1);
        else
            moment();
    }
    return NULL;
}

/*
 * U41 (glibc 12674, musl, FreeBSD D7505, libuv 1795): the releaser touches the semaphore after the granted
 * acquirer has destroyed and freed it.  The test overwrites the memory before free(), so that a late access
 * shows even without a sanitizer.
 */
START_TEST(an_acquirer_may_destroy_and_free_at_once)
{
    struct relay relay = { .sem = NULL };
    pthread_t thread;

    start_thread(&thread, release_what_comes, &relay);
    for (int i = 0; i < stress_times(2000); i++) {
        fairsem_t *sem = aligned_alloc(_Alignof(fairsem_t), sizeof *sem);

        if (sem == NULL || fairsem_init(sem, 0, NULL) != 0)
            ck_abort_msg("init failed");
        atomic_store(&relay.sem, sem);
        if (i % 3 == 0) {
            if (fairsem_acquire(sem, 1) != 0)
                ck_abort_msg("acquire failed");
        } else if (i % 3 == 1) {
            while (fairsem_tryacquire(sem, 1) != 0)
                moment();
        } else {
            while (fairsem_acquire_for(sem, 1, 20000) != 0)
                continue;
        }
        if (fairsem_destroy(sem) != 0)
            ck_abort_msg("destroy failed");
        memset(sem, 0xa5, sizeof *sem);
        free(sem);
    }
    atomic_store(&relay.stop, 1);
    pthread_join(thread, NULL);
}
END_TEST

/* U55 (a condition variable is signaled before a thread waits on it), U57: the grant comes at
 * every moment between the enqueuing and the sleep. */
START_TEST(a_grant_may_come_before_the_waiter_sleeps)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct relay relay = { .sem = NULL };
    pthread_t thread;

    start_thread(&thread, release_what_comes, &relay);
    for (int i = 0; i < stress_times(4000); i++) {
        atomic_store(&relay.sem, &sem);
        for (int spin = i % 53 * 20; spin > 0; spin--)
            atomic_load_explicit(&relay.stop, memory_order_relaxed);
        if (fairsem_acquire(&sem, 1) != 0)
            ck_abort_msg("acquire failed");
    }
    atomic_store(&relay.stop, 1);
    pthread_join(thread, NULL);
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

/* A waiter with a short deadline may return, and its thread may end, while the releaser is still
 * about to wake that thread (tokio 2340, folly). */
START_TEST(a_waiter_may_end_while_it_is_being_woken)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    int granted = 0, returned = 0;

    for (int i = 0; i < stress_times(600); i++) {
        struct worker w = { 0 };
        struct timespec deadline = from_now(CLOCK_MONOTONIC, i % 2);

        w.clock = CLOCK_MONOTONIC;
        w.deadline = &deadline;
        worker_start(&w, &sem, 1);
        fairsem_release(&sem, 1);
        granted += worker_join(&w) == 0;
        returned += fairsem_tryacquire(&sem, 1) == 0;
    }
    ck_assert_int_eq(granted + returned, stress_times(600));
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
}
END_TEST

static pthread_key_t late_key;

static void wait_in_destructor(void *arg)
{
    insist(0, fairsem_acquire(arg, 1));
}

static void *end_with_a_wait(void *arg)
{
    insist(0, fairsem_acquire(arg, 1));
    pthread_setspecific(late_key, arg);
    return NULL;
}

/* Destructors of thread-specific data run in any order: the library's may run before wait_in_destructor(). */
START_TEST(a_thread_that_is_ending_can_still_wait)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    pthread_t thread;

    ck_assert_int_eq(pthread_key_create(&late_key, wait_in_destructor), 0);
    for (int i = 0; i < 10; i++) {
        start_thread(&thread, end_with_a_wait, &sem);
        for (int k = 0; k < 2; k++) {
            await_waiters(&sem, 1);
            ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        }
        pthread_join(thread, NULL);
    }
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

/* The main thread of a child calls exit().  One wait begins before exit(), the other during exit(). */
static bool     exits;
static fairsem_t at_exit = FAIRSEM_INITIALIZER(0);
static struct worker before_exit, in_exit;

/* Priority 101 makes this destructor run last, after the library's own. */
__attribute__((destructor(101))) static void when_all_is_over(void)
{
    if (!exits)
        return;
    worker_queue(&in_exit, &at_exit, 1, 2);
    CHILD_CHECK(fairsem_release(&at_exit, 1) == 0);
    CHILD_CHECK(worker_join(&before_exit) == 0);
    CHILD_CHECK(worker_waits(&in_exit));
    CHILD_CHECK(fairsem_release(&at_exit, 1) == 0);
    CHILD_CHECK(worker_join(&in_exit) == 0);
    CHILD_CHECK(fairsem_acquire_for(&at_exit, 1, 3000000) == ETIMEDOUT);
    _exit(0);
}

START_TEST(threads_can_still_wait_and_release_while_the_process_exits)
{
    pid_t child = fork();

    if (child == 0) {
        exits = true;
        worker_queue(&before_exit, &at_exit, 1, 1);
        exit(1);    /* but when_all_is_over() sets the exit status */
    }
    ck_assert_int_eq(status_of(child), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("lifetime",
              a_static_initializer_needs_no_call, a_static_semaphore_can_have_a_capacity,
              an_allocated_semaphore_is_like_any_other_and_has_cache_lines_of_its_own,
              an_acquirer_may_destroy_and_free_at_once,
              a_grant_may_come_before_the_waiter_sleeps, a_waiter_may_end_while_it_is_being_woken,
              a_thread_that_is_ending_can_still_wait,
              threads_can_still_wait_and_release_while_the_process_exits);
}
