/* SPDX-License-Identifier: MIT */
/*
 * t_fault_unload.c - the library is closed with dlclose() while threads are inside the library, and while
 * other threads have yet to run its destructor of thread-specific data.
 *
 * The library is linked with -z nodelete, so dlclose() does not unmap it.  If it were unmapped, the fork
 * handlers, the destructor and the threads inside would run unmapped code.
 */
#define _DEFAULT_SOURCE     /* RTLD_NOLOAD */
#include "children.h"
#include "loaded.h"
#include "suite.h"

#include <stdatomic.h>
#include <stdio.h>

#define LIBRARY ".libs/libfairsem.so"

static _Atomic int result;
static _Atomic bool go_on;

/* The end of the sleep returns into the library, and the end of the thread calls the library's destructor. */
static void *wait_inside(void *arg)
{
    atomic_store(&result, acquire(arg, 1));
    while (!atomic_load(&go_on))
        moment();
    return NULL;
}

static void start(pthread_t *thread, fairsem_t *sem, int64_t expected)
{
    ck_assert_int_eq(pthread_create(thread, NULL, wait_inside, sem), 0);
    while (waiters(sem) != expected)
        moment();
}

START_TEST(a_thread_inside_is_granted_after_the_library_was_closed)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    pthread_t thread;
    void *library = load(LIBRARY);

    start(&thread, &sem, 1);
    ck_assert_int_eq(dlclose(library), 0);
    ck_assert(is_mapped(LIBRARY));
    ck_assert_int_eq(release(&sem, 1), 0);
    atomic_store(&go_on, true);
    pthread_join(thread, NULL);
    ck_assert_int_eq(result, 0);
    ck_assert_int_eq(available(&sem), 0);
}
END_TEST

START_TEST(a_thread_that_has_waited_can_end_after_the_library_was_closed)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    pthread_t thread[3];
    void *library = load(LIBRARY);

    for (int i = 0; i < 3; i++)
        start(&thread[i], &sem, i + 1);
    ck_assert_int_eq(release(&sem, 2), 0);
    while (waiters(&sem) != 1)
        moment();
    ck_assert_int_eq(dlclose(library), 0);
    atomic_store(&go_on, true);             /* two destructors run now */
    ck_assert_int_eq(release(&sem, 1), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(available(&sem), 0);
    ck_assert_int_eq(waiters(&sem), 0);
}
END_TEST

START_TEST(a_process_may_fork_and_a_thread_be_canceled_after_the_library_was_closed)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    pthread_t thread;
    void *ended, *library = load(LIBRARY);
    pid_t child;

    start(&thread, &sem, 1);
    ck_assert_int_eq(dlclose(library), 0);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(waiters(&sem) == 0);
        CHILD_CHECK(release(&sem, 1) == 0 && acquire(&sem, 1) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(pthread_cancel(thread), 0);
    pthread_join(thread, &ended);
    ck_assert_ptr_eq(ended, PTHREAD_CANCELED);
    ck_assert_int_eq(waiters(&sem), 0);
}
END_TEST

START_TEST(a_library_that_was_closed_and_opened_again_is_the_same)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    int (*before)(fairsem_t *sem, int64_t n);
    pthread_t thread;
    void *library = load(LIBRARY);

    before = release;
    start(&thread, &sem, 1);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(dlclose(library), 0);
        library = load(LIBRARY);
    }
    ck_assert(release == before);
    ck_assert_int_eq(release(&sem, 1), 0);
    atomic_store(&go_on, true);
    pthread_join(thread, NULL);
    ck_assert_int_eq(result, 0);
}
END_TEST

int main(void)
{
    if (UNDER_TSAN || UNDER_ASAN)
        return program_not_here("the library belongs to a sanitizer");
    RUN_SUITE("fault unload", a_thread_inside_is_granted_after_the_library_was_closed,
              a_thread_that_has_waited_can_end_after_the_library_was_closed,
              a_process_may_fork_and_a_thread_be_canceled_after_the_library_was_closed,
              a_library_that_was_closed_and_opened_again_is_the_same);
}
