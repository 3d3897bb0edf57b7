/* SPDX-License-Identifier: MIT */
/*
 * t_fault_stop.c - the whole process is stopped (SIGSTOP: Ctrl-Z, a debugger, a frozen container)
 * and continued, at any moment, while its threads wait, sleep and release.
 *
 * The process is a child of the test, which stops it, waits until it is stopped, and continues it.
 */
#define _DEFAULT_SOURCE     /* MAP_ANONYMOUS */

#include "children.h"
#include "suite.h"
#include "workers.h"

#include "parking.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#define HOUR_MS (3600 * 1000)

/* Stop the child and continue it; false: it has ended, with *status. */
static bool stop_and_continue(pid_t child, int *status)
{
    ck_assert_int_eq(kill(child, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(child, status, WUNTRACED), child);
    if (!WIFSTOPPED(*status))
        return false;
    ck_assert_int_eq(kill(child, SIGCONT), 0);
    return true;
}

static bool passed(const struct timespec *at)
{
    struct timespec now = from_now(CLOCK_MONOTONIC, 0);

    return now.tv_sec > at->tv_sec || (now.tv_sec == at->tv_sec && now.tv_nsec >= at->tv_nsec);
}

/*
 * Keep the child stopped until the clock, which is also the child's, has reached that time.  False:
 * it was not stopped before that.
 */
static bool stop_until(pid_t child, const struct timespec *at)
{
    bool in_time;
    int status;

    ck_assert_int_eq(kill(child, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    ck_assert(WIFSTOPPED(status));
    in_time = !passed(at);
    while (!passed(at))
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

/* On a busy machine that may be so before all wait. */
static bool has_timed_out(struct worker w[3])
{
    return !worker_waits(&w[1]) || !worker_waits(&w[2]);
}

/* In the child.  Three waiters: one without a deadline, one with a deadline on each clock. */
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

/* False: the deadlines, if they are near, may have passed before it was stopped. */
static bool stop_waiters(unsigned flags, int64_t ms)
{
    const struct timespec late = from_now(CLOCK_MONOTONIC, ms);     /* the child's are not earlier */
    int to_parent[2], to_child[2], status;
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
        ck_assert(stop_and_continue(child, &status));
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

/* Fewer are no storm.  On a busy machine all of them may come late: the child goes on until then. */
enum { STOPS = 20 };

struct runner {
    fairsem_t  *sem;
    _Atomic int granted, *stops;
};

static void *take_and_give(void *arg)
{
    struct runner *r = arg;

    for (int i = 0; i < 3000 || atomic_load(r->stops) < STOPS; i++) {
        if (i % 3 == 0 ? fairsem_acquire_for(r->sem, 1, 50000) == 0
                       : fairsem_acquire(r->sem, 1) == 0) {
            atomic_fetch_add(&r->granted, 1);
            fairsem_release(r->sem, 1);
        }
    }
    return NULL;
}

/* In the child: four threads pass two units around, as often as they can. */
static void run_while_stopped(unsigned flags, _Atomic int *stops)
{
    const fairsem_attr_t attr = { .capacity = 2, .flags = flags };
    pthread_t thread[4];
    struct runner r[4];
    fairsem_stat_t stat;
    fairsem_t sem;

    hang_alarm();
    CHILD_CHECK(fairsem_init(&sem, 2, &attr) == 0);
    for (int i = 0; i < 4; i++) {
        r[i] = (struct runner){ .sem = &sem, .stops = stops };
        start_thread(&thread[i], take_and_give, &r[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        CHILD_CHECK(r[i].granted >= 2000);
    }
    fairsem_stat(&sem, &stat);
    CHILD_CHECK(stat.available == 2 && stat.waiters == 0 && stat.over_releases == 0);
    CHILD_CHECK(fairsem_destroy(&sem) == 0);
    _exit(0);
}

static void stop_runners(unsigned flags)
{
    const struct timespec progress = { .tv_nsec = 50000 };  /* the child must make some */
    _Atomic int *stops = mmap(NULL, sizeof *stops, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;
    pid_t child;

    ck_assert(stops != MAP_FAILED);
    child = fork();
    if (child == 0)
        run_while_stopped(flags, stops);
    ck_assert_int_gt(child, 0);
    while (stop_and_continue(child, &status)) {
        atomic_fetch_add(stops, 1);
        nanosleep(&progress, NULL);
    }
    ck_assert_int_eq(status, 0);
    ck_assert_int_ge(atomic_load(stops), STOPS);
    munmap(stops, sizeof *stops);
}

START_TEST(a_process_that_is_stopped_again_and_again_loses_no_unit)
{
    stop_runners(0);
    if (FS_HAS_FUTEX)
        stop_runners(FAIRSEM_INTERRUPTIBLE);
}
END_TEST

int main(void)
{
    RUN_SUITE("fault stop", waiters_that_are_stopped_and_continued_keep_their_places,
              a_deadline_that_passes_while_a_waiter_is_stopped_ends_its_wait,
              a_process_that_is_stopped_again_and_again_loses_no_unit);
}
