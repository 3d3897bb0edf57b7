/* SPDX-License-Identifier: MIT */
/*
 * t_fault_signals.c - ten thousand signals (make check-faults: a hundred thousand) to threads that
 * wait and release.  A signal must not change a wait that is not interruptible.  An interruptible
 * wait may end with EINTR, and then the next in the queue gets its units.
 */
#include "faults.h"
#include "suite.h"
#include "workers.h"

#include "parking.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#define THREADS 4
#define UNITS   2

static int          wanted;     /* signals, handled */
static fairsem_t    sem;
static _Atomic int  handled;
static _Atomic bool handlers_release, stop;
static _Atomic int  released_in_handlers, errors_in_handlers;

struct runner {
    pthread_t   thread;
    _Atomic int held, granted, interrupted, unexpected;
};

static void on_signal(int sig)
{
    int before = errno;

    (void)sig;
    if (atomic_load(&handlers_release)) {
        if (fairsem_release(&sem, 1) == 0)
            atomic_fetch_add(&released_in_handlers, 1);
        else
            atomic_fetch_add(&errors_in_handlers, 1);
    }
    errno = before;
    atomic_fetch_add(&handled, 1);
}

/* In turn: without a deadline, with one, with one that soon passes. */
static int acquire(int turn)
{
    struct timespec at;

    switch (turn % 3) {
    case 0:
        return fairsem_acquire(&sem, 1);
    case 1:
        at = from_now(CLOCK_REALTIME, 3600 * 1000);
        return fairsem_acquire_until(&sem, 1, CLOCK_REALTIME, &at);
    default:
        return fairsem_acquire_for(&sem, 1, 20000);
    }
}

static void *run(void *arg)
{
    struct runner *r = arg;

    for (int turn = 0; !atomic_load(&stop); turn++) {
        int result = acquire(turn);

        if (result == 0) {
            atomic_fetch_add(&r->granted, 1);
            if (turn % 8 == 0)
                moment();
            if (fairsem_release(&sem, 1) != 0)
                atomic_store(&r->unexpected, -1);
        } else if (result == EINTR) {
            atomic_fetch_add(&r->interrupted, 1);
        } else if (result != ETIMEDOUT || turn % 3 != 2) {
            atomic_store(&r->unexpected, result);
        }
    }
    return NULL;
}

static void begin(struct runner r[], unsigned flags, int sa_flags)
{
    const fairsem_attr_t attr = { .flags = flags };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = sa_flags };

    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(fairsem_init(&sem, UNITS, &attr), 0);
    atomic_store(&stop, false);
    atomic_store(&handled, 0);
    for (int i = 0; i < THREADS; i++) {
        r[i] = (struct runner){ .unexpected = 0 };
        start_thread(&r[i].thread, run, &r[i]);
    }
}

/* Has each of them been granted a unit, and if signals interrupt, was any wait interrupted? */
static bool have_run(struct runner r[], bool interrupts)
{
    int interrupted = 0;

    for (int i = 0; i < THREADS; i++) {
        if (atomic_load(&r[i].granted) == 0)
            return false;
        interrupted += atomic_load(&r[i].interrupted);
    }
    return !interrupts || interrupted > 0;
}

/* Until enough are handled: the kernel merges two that are pending in one thread. */
static void storm(struct runner r[], bool interrupts)
{
    for (int i = 0; atomic_load(&handled) < wanted || !have_run(r, interrupts); i++) {
        pthread_kill(r[i % THREADS].thread, SIGUSR1);
        if (i % 64 == 0)
            moment();
    }
}

/* Returns how many waits were interrupted. */
static int end(struct runner r[], const char *what)
{
    int granted = 0, interrupted = 0;

    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(r[i].thread, NULL);
        ck_assert_int_eq(r[i].unexpected, 0);
        granted += r[i].granted;
        interrupted += r[i].interrupted;
    }
    printf("%s: %d signals, %d granted, %d interrupted\n", what, atomic_load(&handled), granted,
           interrupted);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
    return interrupted;
}

START_TEST(a_storm_of_signals_changes_no_wait_that_is_not_interruptible)
{
    struct runner r[THREADS];

    begin(r, 0, 0);
    storm(r, false);
    ck_assert_int_eq(end(r, "not interruptible"), 0);
    ck_assert_int_eq(fairsem_available(&sem), UNITS);
}
END_TEST

START_TEST(a_storm_of_signals_that_interrupt_loses_no_unit)
{
    struct runner r[THREADS];

    begin(r, FAIRSEM_INTERRUPTIBLE, 0);
    storm(r, true);
    end(r, "interruptible");
    ck_assert_int_eq(fairsem_available(&sem), UNITS);
}
END_TEST

START_TEST(a_storm_of_signals_that_restart_loses_no_unit)
{
    struct runner r[THREADS];

    begin(r, FAIRSEM_INTERRUPTIBLE, SA_RESTART);
    storm(r, false);
    end(r, "interruptible, SA_RESTART");
    ck_assert_int_eq(fairsem_available(&sem), UNITS);
}
END_TEST

/* Each signal releases a unit: at the end there must be exactly so many more. */
START_TEST(every_unit_released_in_a_storm_of_handlers_counts)
{
    struct runner r[THREADS];

    atomic_store(&handlers_release, true);
    begin(r, FAIRSEM_INTERRUPTIBLE, 0);
    storm(r, false);
    end(r, "handlers that release");
    ck_assert_int_eq(errors_in_handlers, 0);
    ck_assert_int_eq(released_in_handlers, handled);
    ck_assert_int_eq(fairsem_available(&sem), UNITS + released_in_handlers);
}
END_TEST

/* These threads only wait, and must keep their places. */
START_TEST(waiters_in_a_storm_of_signals_keep_their_places)
{
    struct worker w[THREADS] = { { 0 } };
    _Atomic int service = 0;
    struct sigaction action = { .sa_handler = on_signal };

    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(fairsem_init(&sem, 0, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        w[i].service = &service;
        worker_queue(&w[i], &sem, 1, i + 1);
    }
    for (int i = 0; atomic_load(&handled) < wanted; i++) {
        pthread_kill(w[i % THREADS].thread, SIGUSR1);
        if (i % 64 == 0)
            moment();
    }
    ck_assert_int_eq(fairsem_waiters(&sem), THREADS);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(worker_join(&w[i]), 0);
        ck_assert_int_eq(w[i].place, i);
    }
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

int main(void)
{
    wanted = fault_times(300);
    if (UNDER_TSAN)
        return program_not_here("ThreadSanitizer holds signals back in calls it does not know");
    if (!FS_HAS_FUTEX)
        RUN_SUITE("fault signals",
                  a_storm_of_signals_changes_no_wait_that_is_not_interruptible,
                  waiters_in_a_storm_of_signals_keep_their_places);
    RUN_SUITE("fault signals",
              a_storm_of_signals_changes_no_wait_that_is_not_interruptible,
              a_storm_of_signals_that_interrupt_loses_no_unit,
              a_storm_of_signals_that_restart_loses_no_unit,
              every_unit_released_in_a_storm_of_handlers_counts,
              waiters_in_a_storm_of_signals_keep_their_places);
}
