/* SPDX-License-Identifier: MIT */
/*
 * t_shared_posix.c - what POSIX demands of semaphores between processes, except for what other tests of this
 * directory check.
 *
 * The comment above each test names the clause that the test checks.  "Differs" says where fairsem does
 * something else by design, and why.  In POSIX, units belong to no process, so most segments of this file are
 * without undo.  t_shared_posix_open.c is about names.
 *
 * Values, results, errors and errno are in t_shared_results.c, the order in t_shared_order.c, names and
 * attributes that are refused in t_shared_open.c.
 *
 * Two demands of POSIX have no test.  EINVAL for an invalid semaphore: a handle is a pointer, and
 * t_shared_damage.c is about damaged segments.  sem_post in a signal handler: no function of
 * shared.h may be called in a handler, because most functions take a lock.
 */
#include "crowd.h"

#include "workers.h"

#define NO_UNDO FAIRSEM_SHARED_NO_UNDO

/* ---- sem_init ---- */

/*
 * sem_init, pshared not 0: any process that can access the semaphore may use it.  A child and a grandchild use
 * the semaphore, and each process sees what the other two have done.
 */
START_TEST(children_and_grandchildren_use_the_same_semaphore)
{
    fairsem_shared_t *h = make_segment(5, NO_UNDO);
    pid_t child;

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    child = fork();
    if (child == 0) {
        pid_t grandchild;
        int status;

        CHILD_CHECK(fairsem_shared_available(h) == 4);
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0);
        grandchild = fork();
        if (grandchild == 0) {
            CHILD_CHECK(fairsem_shared_available(h) == 3);
            CHILD_CHECK(fairsem_shared_release(h, 7) == 0);
            _exit(0);
        }
        CHILD_CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
        CHILD_CHECK(fairsem_shared_available(h) == 10);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 10);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* sem_init: {SEM_NSEMS_MAX} is at least 256.  A release on one semaphore changes no other semaphore. */
START_TEST(a_process_can_have_256_semaphores)
{
    fairsem_shared_t *h[256];

    for (int i = 0; i < 256; i++)
        h[i] = make_small_segment(i, NO_UNDO, 1, 1);
    for (int i = 0; i < 256; i += 2)
        ck_assert_int_eq(fairsem_shared_release(h[i], 1000), 0);
    for (int i = 0; i < 256; i++) {
        ck_assert_int_eq(fairsem_shared_available(h[i]), i % 2 == 0 ? i + 1000 : i);
        ck_assert_int_eq(fairsem_shared_close(h[i]), 0);
    }
}
END_TEST

/* ---- Memory ---- */

#define RING 8
#define LAPS 300

static void take_turns(fairsem_shared_t *const *h, int self, int *turn)
{
    for (int lap = 0; lap < LAPS; lap++) {
        CHILD_CHECK(fairsem_shared_acquire(h[self], 1) == 0);
        CHILD_CHECK(*turn == lap * RING + self);
        *turn += 1;
        CHILD_CHECK(fairsem_shared_release(h[(self + 1) % RING], 1) == 0);
    }
    _exit(0);
}

/*
 * sem_wait and sem_post synchronize memory (XBD 4.12).  Eight processes take turns.  Each sees the stores of
 * the process before it, which are not atomic.
 */
START_TEST(processes_in_lock_step_see_what_the_others_wrote)
{
    int *turn = share(sizeof *turn);
    fairsem_shared_t *h[RING];
    pid_t children[RING];

    for (int i = 0; i < RING; i++)
        h[i] = make_segment(0, NO_UNDO);
    for (int i = 0; i < RING; i++) {
        children[i] = fork();
        if (children[i] == 0)
            take_turns(h, i, turn);
    }
    ck_assert_int_eq(fairsem_shared_release(h[0], 1), 0);
    for (int i = 0; i < RING; i++)
        ck_assert_int_eq(status_of(children[i]), 0);
    ck_assert_int_eq(*turn, RING * LAPS);
    for (int i = 0; i < RING; i++) {
        ck_assert_int_eq(fairsem_shared_available(h[i]), i == 0 ? 1 : 0);
        ck_assert_int_eq(fairsem_shared_close(h[i]), 0);
    }
}
END_TEST

/* ---- sem_wait ---- */

static _Atomic int *handled;

static void count_signal(int number)
{
    (void)number;
    atomic_fetch_add(handled, 1);
}

/*
 * sem_wait, sem_timedwait: EINTR when a signal handler has run.  Differs: a signal does not end a
 * wait, because the waiter would lose its place in the queue.  A token can end a wait.
 */
START_TEST(a_signal_handler_runs_and_the_wait_goes_on)
{
    struct sigaction action = { .sa_handler = count_signal };      /* no SA_RESTART */

    handled = share(sizeof *handled);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    for (int way = 0; way < 3; way++) {
        const struct timespec later = from_now(CLOCK_REALTIME, 600000);
        fairsem_shared_t *h = make_segment(0, NO_UNDO);
        pid_t child = fork();

        if (child == 0) {
            CHILD_CHECK((way == 0 ? fairsem_shared_acquire(h, 1)
                         : way == 1 ? fairsem_shared_acquire_for(h, 1, 600000000000)
                         : fairsem_shared_acquire_until(h, 1, CLOCK_REALTIME, &later)) == 0);
            _exit(0);
        }
        await_queue(h, 1);
        atomic_store(handled, 0);
        for (int i = 1; i <= 5; i++) {
            ck_assert_int_eq(kill(child, SIGUSR1), 0);
            await_flag(handled, i);
            ck_assert_int_eq(fairsem_shared_waiters(h), 1);
        }
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
        ck_assert_int_eq(status_of(child), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

struct canceled {
    fairsem_shared_t *h;
    int               first, second;    /* results */
};

static void *acquire_twice(void *arg)
{
    struct canceled *c = arg;
    int ignored;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ignored);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &ignored);
    c->first = fairsem_shared_acquire(c->h, 1);
    c->second = fairsem_shared_acquire(c->h, 1);
    return NULL;
}

/*
 * sem_wait: a cancellation point (XSH 2.9.5.2).  Differs: only a call that waits is a cancellation
 * point, so no thread ends with units that it has just acquired.
 */
START_TEST(a_thread_is_canceled_where_it_would_wait)
{
    struct canceled c = { .h = make_segment(1, NO_UNDO), .first = -1, .second = -1 };
    pthread_t thread;
    void *end;

    start_thread(&thread, acquire_twice, &c);
    ck_assert_int_eq(pthread_join(thread, &end), 0);
    ck_assert_ptr_eq(end, PTHREAD_CANCELED);
    ck_assert(c.first == 0 && c.second == -1);
    ck_assert_int_eq(fairsem_shared_waiters(c.h), 0);
    ck_assert_int_eq(fairsem_shared_release(c.h, 1), 0);
    ck_assert_int_eq(fairsem_shared_available(c.h), 1);
    ck_assert_int_eq(fairsem_shared_close(c.h), 0);
}
END_TEST

/* ---- sem_timedwait, sem_clockwait ---- */

static bool has_passed(clockid_t clock, const struct timespec *deadline)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec > deadline->tv_sec
           || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

/*
 * sem_timedwait, sem_clockwait: ETIMEDOUT when the deadline has passed on the clock, and not before.
 * A deadline in the past ends the wait at once.  No wait that times out takes the unit of a later post.
 */
START_TEST(a_wait_ends_when_its_deadline_has_passed)
{
    static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC };

    for (unsigned flags = 0; flags <= NO_UNDO; flags++) {
        fairsem_shared_t *h = make_segment(1, flags);

        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        for (int i = 0; i < 4; i++) {
            const struct timespec at = from_now(clocks[i / 2], i % 2 == 0 ? 50 : -50);

            ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, clocks[i / 2], &at), ETIMEDOUT);
            ck_assert(has_passed(clocks[i / 2], &at));
            ck_assert_int_eq(fairsem_shared_waiters(h), 0);
        }
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
        ck_assert_int_eq(fairsem_shared_available(h), 1);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

/* ---- sem_getvalue ---- */

/* Returns a child that changes the value by two until *stop is set.  Its first change adds one to *begun. */
static pid_t fork_changer(fairsem_shared_t *h, _Atomic int *begun, _Atomic int *stop)
{
    pid_t child = fork();

    if (child == 0) {
        for (int i = 0; atomic_load(stop) == 0; i++) {
            CHILD_CHECK(fairsem_shared_acquire(h, 2) == 0);
            CHILD_CHECK(fairsem_shared_release(h, 2) == 0);
            if (i == 0)
                atomic_fetch_add(begun, 1);
        }
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    return child;
}

/*
 * sem_getvalue: a value that the semaphore had at some moment during the call.  Three processes
 * change the value by two at a time, so the value is never odd.  Four units are so few that a process may have
 * to wait; six are enough for all.
 */
START_TEST(available_returns_a_value_from_a_moment_during_the_call)
{
    for (int i = 0; i < 4; i++) {
        const int64_t units = i < 2 ? 4 : 6;
        _Atomic int *flags = share(2 * sizeof *flags);
        fairsem_shared_t *h = make_segment(units, i % 2 == 0 ? 0 : NO_UNDO);
        pid_t children[3];

        for (int k = 0; k < 3; k++)
            children[k] = fork_changer(h, &flags[0], &flags[1]);
        await_flag(&flags[0], 3);
        for (int n = 0; n < 4000; n++) {
            int64_t value = fairsem_shared_available(h);

            ck_assert(value >= 0 && value <= units && value % 2 == 0);
        }
        atomic_store(&flags[1], 1);
        for (int k = 0; k < 3; k++)
            ck_assert_int_eq(status_of(children[k]), 0);
        ck_assert_int_eq(fairsem_shared_available(h), units);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("shared POSIX", children_and_grandchildren_use_the_same_semaphore,
              a_process_can_have_256_semaphores, processes_in_lock_step_see_what_the_others_wrote,
              a_signal_handler_runs_and_the_wait_goes_on, a_thread_is_canceled_where_it_would_wait,
              a_wait_ends_when_its_deadline_has_passed,
              available_returns_a_value_from_a_moment_during_the_call);
}
