/* SPDX-License-Identifier: MIT */
/*
 * t_fault_resources.c - threads wait in order although there is no memory, no key, no value for a
 * key, or no condition variable.  (For one failure at a time see t_fault_memory.c.)
 *
 * The linker redirects the library's calls of these functions to this file (--wrap).
 */
#include "bare.h"
#include "suite.h"
#include "workers.h"

#include "system/parking.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
int __real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int __real_pthread_setspecific(pthread_key_t key, const void *value);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value);
int __real_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr);
int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr);

/* The test's own thread, whose allocations are Check's. */
static pthread_t tester;
static pthread_key_t newest_key;    /* the library's key: a sanitizer creates its keys earlier */
static _Atomic bool no_memory, no_keys, no_values;
static _Atomic int mallocs;
static _Atomic int cond_inits_left = 1 << 30;

BARE void *__wrap_malloc(size_t size)
{
    if (pthread_equal(pthread_self(), tester))
        return __real_malloc(size);
    atomic_fetch_add(&mallocs, 1);
    return atomic_load(&no_memory) ? NULL : __real_malloc(size);
}

BARE int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    int error = atomic_load(&no_keys) ? EAGAIN : __real_pthread_key_create(key, destructor);

    if (error == 0)
        newest_key = *key;
    return error;
}

BARE int __wrap_pthread_setspecific(pthread_key_t key, const void *value)
{
    if (atomic_load(&no_values) && key == newest_key) {
        errno = ENOMEM;     /* as the calloc in pthread_setspecific does */
        return ENOMEM;
    }
    return __real_pthread_setspecific(key, value);
}

BARE int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
    if (atomic_fetch_sub(&cond_inits_left, 1) <= 0)
        return ENOMEM;
    return __real_pthread_cond_init(c, attr);
}

/* Without the resources for a sleep, waiters are granted in order, and a deadline and a cancellation end
 * their waits. */
static void waits_work_in_order(void)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker w[5] = { { 0 } }, timed = { 0 }, canceled = { 0 };
    struct timespec deadline = from_now(CLOCK_REALTIME, 20);
    _Atomic int service = 0;
    void *result;

    timed.clock = CLOCK_REALTIME;
    timed.deadline = &deadline;
    worker_start(&timed, &sem, 1);
    ck_assert_int_eq(worker_join(&timed), ETIMEDOUT);
    worker_queue(&canceled, &sem, 1, 1);
    for (int i = 0; i < 5; i++) {
        w[i].service = &service;
        worker_queue(&w[i], &sem, 1, i + 2);
    }
    if (UNDER_ASAN) {
        /* AddressSanitizer reports a thread canceled in pthread_testcancel as a stack overflow. */
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(worker_join(&canceled), 0);
    } else {
        pthread_cancel(canceled.thread);
        pthread_join(canceled.thread, &result);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    }
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(worker_join(&w[i]), 0);
        ck_assert_int_eq(w[i].place, i);
    }
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}

START_TEST(waits_work_in_order_without_memory)
{
    tester = pthread_self();
    atomic_store(&no_memory, true);
    waits_work_in_order();
}
END_TEST

START_TEST(waits_work_in_order_without_thread_specific_keys)
{
    atomic_store(&no_keys, true);
    waits_work_in_order();
}
END_TEST

START_TEST(waits_work_in_order_without_memory_for_thread_specific_values)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    /* The first wait creates the library's key. */
    ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 1), ETIMEDOUT);
    atomic_store(&no_values, true);
    waits_work_in_order();
}
END_TEST

START_TEST(waits_work_in_order_without_condition_variables)
{
    atomic_store(&cond_inits_left, 0);
    waits_work_in_order();
    atomic_store(&cond_inits_left, 1);
    waits_work_in_order();
}
END_TEST

static void *wait_twice(void *arg)
{
    insist(0, fairsem_acquire(arg, 1));
    insist(0, fairsem_acquire(arg, 1));
    return NULL;
}

/* One allocation serves all waits of a thread, and then the waits of later threads. */
START_TEST(only_the_first_wait_of_a_thread_allocates)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    tester = pthread_self();
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        int after_first, after_second, before = atomic_load(&mallocs);

        start_thread(&thread, wait_twice, &sem);
        await_waiters(&sem, 1);
        after_first = atomic_load(&mallocs);
        ck_assert_int_eq(after_first - before, i == 0 ? 1 : 0);
        fairsem_release(&sem, 1);
        await_waiters(&sem, 1);
        fairsem_release(&sem, 1);
        pthread_join(thread, NULL);
        after_second = atomic_load(&mallocs);
        ck_assert_int_eq(after_second, after_first);
    }
}
END_TEST

static void *wait_with_errno(void *arg)
{
    static int seen;

    errno = 4711;
    insist(0, fairsem_acquire(arg, 1));
    insist(ETIMEDOUT, fairsem_acquire_for(arg, 1, 2000000));
    seen = errno;
    return &seen;
}

START_TEST(errno_is_unchanged_without_memory)
{
    _Atomic bool *const missing[] = { &no_memory, &no_values };

    tester = pthread_self();
    for (int i = 0; i < 2; i++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        pthread_t thread;
        void *seen;

        atomic_store(missing[i], true);
        start_thread(&thread, wait_with_errno, &sem);
        await_waiters(&sem, 1);
        fairsem_release(&sem, 1);
        pthread_join(thread, &seen);
        atomic_store(missing[i], false);
        ck_assert_int_eq(*(int *)seen, 4711);
    }
}
END_TEST

START_TEST(a_dump_without_memory_has_the_summary_and_says_what_is_missing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker w = { 0 };
    FILE *file = tmpfile();
    char text[1024] = "";
    fairsem_stat_t stat;
    int lines = 0, error;

    ck_assert_ptr_nonnull(file);
    setvbuf(file, NULL, _IONBF, 0);
    worker_queue(&w, &sem, 1, 1);
    do
        ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
    while (stat.oldest_wait_ns < 1000);     /* the dump shows microseconds */
    atomic_store(&no_memory, true);
    error = fairsem_dump(&sem, file);
    atomic_store(&no_memory, false);
    ck_assert_int_eq(error, ENOMEM);
    rewind(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    ck_assert_int_eq(lines, 3);
    ck_assert_ptr_nonnull(strstr(text, "longest wait "));
    ck_assert_ptr_null(strstr(text, "longest wait 0.000000 s"));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("fault resources", waits_work_in_order_without_memory,
              waits_work_in_order_without_thread_specific_keys,
              waits_work_in_order_without_memory_for_thread_specific_values,
              waits_work_in_order_without_condition_variables,
              only_the_first_wait_of_a_thread_allocates, errno_is_unchanged_without_memory,
              a_dump_without_memory_has_the_summary_and_says_what_is_missing);
}
