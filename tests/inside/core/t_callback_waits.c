/* SPDX-License-Identifier: MIT */
/*
 * t_callback_waits.c - callback B waits for callback A, which has waited for an earlier call of B.
 *
 * The linker redirects the library's waits to this file (--wrap), so that a callback can see that another
 * callback waits.
 */
#include "bare.h"
#include "suite.h"
#include "workers.h"

#include <errno.h>

static fairsem_t first = FAIRSEM_INITIALIZER(0), second = FAIRSEM_INITIALIZER(0);
static _Atomic int mistakes;    /* of threads that are not the test's own */

static void must(int result)
{
    if (result != 0)
        atomic_fetch_add(&mistakes, 1);
}

static void *release_first(void *arg)
{
    must(fairsem_release(&first, 1));
    return arg;
}

void __real_fs_sleep_shortly(int64_t ns);
void __wrap_fs_sleep_shortly(int64_t ns);
static _Atomic int waiting_threads;     /* threads that wait, or have waited, for the end of a callback */

void __wrap_fs_sleep_shortly(int64_t ns)
{
    static _Thread_local bool counted;

    if (!counted)
        atomic_fetch_add(&waiting_threads, 1);
    counted = true;
    __real_fs_sleep_shortly(ns);
}

static fairsem_ticket_t of_first, of_second;
static _Atomic int second_runs, first_has_waited, first_ended, second_returned, saw_the_end;

static void wait_for_the_second_and_go_on(fairsem_ticket_t *which, void *arg)
{
    (void)which;
    (void)arg;
    while (!atomic_load(&second_runs))
        moment();
    must(fairsem_ticket_return(&of_second));
    atomic_store(&first_has_waited, 1);
    while (atomic_load(&waiting_threads) < 2 && !atomic_load(&second_returned))
        moment();
    atomic_store(&first_ended, 1);
}

static void be_waited_for(fairsem_ticket_t *which, void *arg)
{
    (void)which;
    (void)arg;
    atomic_store(&second_runs, 1);
    while (atomic_load(&waiting_threads) < 1)
        moment();
}

static void wait_for_the_first(fairsem_ticket_t *which, void *arg)
{
    (void)which;
    (void)arg;
    must(fairsem_ticket_return(&of_first));
    atomic_store(&saw_the_end, atomic_load(&first_ended));
    atomic_store(&second_returned, 1);
}

static void take_with(fairsem_ticket_t *which, fairsem_t *sem, fairsem_notify_fn *callback)
{
    must(fairsem_ticket_take(which, sem, 1, 0, callback, NULL) != EINPROGRESS);
}

/*
 * Each of two callbacks waits for the other's ticket, but the first callback's wait is over when the second
 * callback's wait begins.  So there is no deadlock to avoid, and the second callback must wait.
 */
START_TEST(a_callback_waits_for_a_callback_whose_own_wait_is_over)
{
    pthread_t releaser;

    take_with(&of_first, &first, wait_for_the_second_and_go_on);
    take_with(&of_second, &second, be_waited_for);
    start_thread(&releaser, release_first, NULL);
    ck_assert_int_eq(fairsem_release(&second, 1), 0);
    while (!atomic_load(&first_has_waited))
        moment();
    ck_assert_int_eq(fairsem_tryacquire(&second, 1), 0);
    take_with(&of_second, &second, wait_for_the_first);
    ck_assert_int_eq(fairsem_release(&second, 1), 0);
    pthread_join(releaser, NULL);
    ck_assert_int_eq(saw_the_end, 1);
    ck_assert_int_eq(fairsem_ticket_claim(&of_second, &(fairsem_units_t){ 0 }), 0);
    ck_assert_int_eq(fairsem_tryacquire(&first, 1), 0);
    ck_assert_int_eq(mistakes, 0);
    ck_assert_int_eq(fairsem_destroy(&first), 0);
    ck_assert_int_eq(fairsem_destroy(&second), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("callback waits",
              a_callback_waits_for_a_callback_whose_own_wait_is_over);
}
