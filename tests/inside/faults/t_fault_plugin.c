/* SPDX-License-Identifier: MIT */
/*
 * t_fault_plugin.c - a plugin linked with libfairsem.a is unloaded, together with the destructor that each
 * thread runs at its end if the thread has waited.
 *
 * No thread is inside the plugin at that time: that would be an error of the plugin.  But a thread that has
 * left the plugin must be able to end, and the process must be able to fork.  (The shared library is never
 * unmapped: t_fault_unload.c.)
 */
#define _DEFAULT_SOURCE     /* RTLD_NOLOAD */
#include "children.h"
#include "loaded.h"
#include "suite.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#define PLUGIN "tests/inside/faults/.libs/libplugin.so"

enum { THREADS = 3 };

/* Unload the plugin, and check that it is unmapped: otherwise the tests would show nothing. */
static void unload(void *plugin)
{
    ck_assert_int_eq(dlclose(plugin), 0);
    ck_assert(!is_mapped(PLUGIN));
}

static atomic_int  outside;     /* threads that have waited, and left the plugin */
static atomic_bool go_on;

static void *wait_once(void *sem)
{
    int error = acquire(sem, 1);

    atomic_fetch_add(&outside, 1);
    while (!atomic_load(&go_on))
        moment();
    return error == 0 ? sem : NULL;
}

/* Start threads that wait inside the plugin, and then leave the plugin. */
static void have_waited(pthread_t *thread, fairsem_t *sem)
{
    atomic_store(&outside, 0);
    atomic_store(&go_on, false);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&thread[i], NULL, wait_once, sem), 0);
        while (waiters(sem) != i + 1)
            moment();
    }
    ck_assert_int_eq(release(sem, THREADS), 0);
    while (atomic_load(&outside) != THREADS)
        moment();
}

static void let_them_end(const pthread_t *thread)
{
    atomic_store(&go_on, true);
    for (int i = 0; i < THREADS; i++) {
        void *result;

        pthread_join(thread[i], &result);
        ck_assert_ptr_nonnull(result);
    }
}

START_TEST(threads_that_have_waited_can_end_after_the_plugin_was_unloaded)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    pthread_t thread[THREADS];
    void *plugin = load(PLUGIN);

    have_waited(thread, &sem);
    unload(plugin);
    let_them_end(thread);
}
END_TEST

/* The unload has removed the library's fork handler, too. */
START_TEST(a_process_can_fork_after_the_plugin_was_unloaded)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    pthread_t thread[THREADS];
    void *plugin = load(PLUGIN);
    pid_t child;

    have_waited(thread, &sem);
    unload(plugin);
    child = fork();
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(status_of(child), 0);
    let_them_end(thread);
}
END_TEST

/* Each load creates a key.  Values that threads have for earlier keys must not disturb the new key. */
START_TEST(a_plugin_that_is_loaded_again_works_for_the_same_threads_and_others)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    pthread_t thread[10][THREADS];

    for (int round = 0; round < 10; round++) {
        void *plugin = load(PLUGIN);

        have_waited(thread[round], &sem);
        unload(plugin);
        if (round % 2 != 0) {
            let_them_end(thread[round]);
            let_them_end(thread[round - 1]);
        }
    }
}
END_TEST

/* The plugin is loaded more often than a process may have keys (PTHREAD_KEYS_MAX is 1024 on Linux). */
START_TEST(a_plugin_that_is_unloaded_deletes_its_key)
{
    for (int round = 0; round < 1100; round++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        pthread_key_t key;
        void *plugin = load(PLUGIN);
        int (*acquire_for)(fairsem_t *sem, int64_t n, int64_t timeout_ns);

        look_up(plugin, "fairsem_acquire_for", &acquire_for, sizeof acquire_for);
        ck_assert_int_eq(acquire_for(&sem, 1, 1), ETIMEDOUT);
        unload(plugin);
        ck_assert_int_eq(pthread_key_create(&key, NULL), 0);
        ck_assert_int_eq(pthread_key_delete(key), 0);
    }
}
END_TEST

int main(void)
{
    if (UNDER_TSAN)
        return program_not_here("the plugin belongs to ThreadSanitizer");
#if !defined(__GLIBC__)
    return program_not_here("this C library may never unload a plugin");
#endif
    RUN_SUITE("fault plugin", threads_that_have_waited_can_end_after_the_plugin_was_unloaded,
              a_process_can_fork_after_the_plugin_was_unloaded,
              a_plugin_that_is_loaded_again_works_for_the_same_threads_and_others,
              a_plugin_that_is_unloaded_deletes_its_key);
}
