/* SPDX-License-Identifier: MIT */
/*
 * t_fault_stop.c - the whole process is stopped (SIGSTOP: Ctrl-Z, a debugger, a frozen container)
 * and continued, while its threads wait.  ../../search/stress/ stops processes at any moment.
 *
 * The process is a child, which the test stops and continues.
 */

#include "children.h"
#include "suite.h"
#include "workers.h"

#include "system/parking.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>

#define HOUR_MS (3600 * 1000)

static bool passed(const struct timespec *at)
{
    struct timespec now = from_now(CLOCK_MONOTONIC, 0);

    return now.tv_sec > at->tv_sec || (now.tv_sec == at->tv_sec && now.tv_nsec >= at->tv_nsec);
}

/*
 * Stop the child, and continue it when CLOCK_MONOTONIC, which the child shares with the test, has reached `at`.
 * If `at` is NULL, continue the child at once.  Returns false if the child was not stopped before `at`.
 */
static bool stop_until(pid_t child, const struct timespec *at)
{
    bool in_time;

    stop_child(child);
    in_time = at == NULL || !passed(at);
    while (at != NULL && !passed(at))
        moment();
    ck_assert_int_eq(kill(child, SIGCONT), 0);
    return in_time;
}

/* The child sends a byte when it is ready. */
static void await_byte(int fd)
{
    char byte;

    ck_assert_int_eq(read(fd, &byte, 1), 1);
}

static void tell(int fd)
{
    CHILD_CHECK(write(fd, "", 1) == 1);
}

/* Has a waiter timed out?  On a busy machine, a waiter may time out before all three wait. */
static bool has_timed_out(struct worker w[3])
{
    return !worker_waits(&w[1]) || !worker_waits(&w[2]);
}

/* Run the child, with three waiters: one without a deadline, and one with a deadline on each clock. */
static void wait_while_stopped(int to_parent, int from_parent, unsigned flags, int64_t ms)
{
    const fairsem_attr_t attr = { .flags = flags };
    struct timespec monotonic = from_now(CLOCK_MONOTONIC, ms);
    struct timespec realtime = from_now(CLOCK_REALTIME, ms);
    struct worker w[3] = { { 0 }, { .clock = CLOCK_MONOTONIC, .deadline = &monotonic },
                           { .clock = CLOCK_REALTIME, .deadline = &realtime } };
    bool late = ms < HOUR_MS;
    fairsem_t sem;
    char byte;

    hang_alarm();
    CHILD_CHECK(fairsem_init(&sem, 0, &attr) == 0);
    worker_queue(&w[0], &sem, 1, 1);
    for (int i = 1; i < 3; i++) {
        worker_start(&w[i], &sem, 1);
        while (fairsem_waiters(&sem) != i + 1 && !(late && has_timed_out(w)))
            moment();
    }
    tell(to_parent);
    CHILD_CHECK(read(from_parent, &byte, 1) == 1);
    if (late) {
        CHILD_CHECK(worker_join(&w[1]) == ETIMEDOUT && worker_join(&w[2]) == ETIMEDOUT);
        CHILD_CHECK(fairsem_waiters(&sem) == 1 && worker_waits(&w[0]));
        CHILD_CHECK(fairsem_release(&sem, 1) == 0 && worker_join(&w[0]) == 0);
    } else {
        CHILD_CHECK(fairsem_waiters(&sem) == 3);
        for (int i = 0; i < 3; i++)
            CHILD_CHECK(fairsem_release(&sem, 1) == 0 && worker_join(&w[i]) == 0);
    }
    CHILD_CHECK(fairsem_available(&sem) == 0 && fairsem_destroy(&sem) == 0);
    _exit(0);
}

/* Returns false if the deadlines are near and may have passed before the child was stopped. */
static bool stop_waiters(unsigned flags, int64_t ms)
{
    const struct timespec late = from_now(CLOCK_MONOTONIC, ms);     /* the child's deadlines are not earlier */
    int to_parent[2], to_child[2];
    bool in_time = true;
    pid_t child;

    ck_assert_int_eq(pipe(to_parent) + pipe(to_child), 0);
    child = fork();
    if (child == 0)
        wait_while_stopped(to_parent[1], to_child[0], flags, ms);
    await_byte(to_parent[0]);
    if (ms < HOUR_MS)
        in_time = stop_until(child, &late);
    for (int i = 0; i < 50; i++)
        stop_until(child, NULL);
    ck_assert_int_eq(write(to_child[1], "", 1), 1);
    ck_assert_int_eq(status_of(child), 0);
    for (int i = 0; i < 2; i++) {
        close(to_parent[i]);
        close(to_child[i]);
    }
    return in_time;
}

/* Interruptible waits go on, too: no handler has run. */
START_TEST(waiters_that_are_stopped_and_continued_keep_their_places)
{
    stop_waiters(0, HOUR_MS);
    if (FS_HAS_FUTEX)
        stop_waiters(FAIRSEM_INTERRUPTIBLE, HOUR_MS);
}
END_TEST

START_TEST(a_deadline_that_passes_while_a_waiter_is_stopped_ends_its_wait)
{
    const unsigned flags[] = { 0, FS_HAS_FUTEX ? FAIRSEM_INTERRUPTIBLE : 0 };

    for (int i = 0; i < 2; i++) {
        for (int64_t ms = 30; !stop_waiters(flags[i], ms); ms *= 2)
            continue;
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("fault stop", waiters_that_are_stopped_and_continued_keep_their_places,
              a_deadline_that_passes_while_a_waiter_is_stopped_ends_its_wait);
}
