/* SPDX-License-Identifier: MIT */
/*
 * t_shared_posix_wait.c - what POSIX demands of sem_wait, sem_trywait, sem_timedwait and
 * sem_clockwait between processes.
 *
 * t_shared_posix.c explains the comments.
 */
#include "crowd.h"

#include "workers.h"

#define NO_UNDO FAIRSEM_SHARED_NO_UNDO

static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC };

/* ---- sem_wait, sem_trywait ---- */

/* sem_wait, sem_trywait: lock at once while the value is above 0, and take one from it. */
START_TEST(a_free_unit_is_taken_at_once)
{
    fairsem_shared_t *h = make_segment(5, NO_UNDO);
    const struct timespec later = from_now(CLOCK_REALTIME, 60000);

    for (int64_t left = 4; left >= 0; left--) {
        static int (*const take[])(fairsem_shared_t *, int64_t) = {
            fairsem_shared_acquire, fairsem_shared_tryacquire,
        };

        if (left == 0)
            ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, CLOCK_REALTIME, &later), 0);
        else
            ck_assert_int_eq(take[left % 2](h, 1), 0);
        ck_assert_int_eq(fairsem_shared_available(h), left);
        ck_assert_int_eq(fairsem_shared_waiters(h), 0);
    }
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/*
 * sem_trywait: EAGAIN while it is locked, and nothing changes.  Differs: errors are return values,
 * and errno stays as it is, so callers need not save it.
 */
START_TEST(an_error_is_a_result_changes_nothing_and_leaves_errno_alone)
{
    fairsem_shared_t *h = make_segment(0, NO_UNDO);
    const struct timespec past = from_now(CLOCK_REALTIME, -1000), wrong = { 0, -1 };

    errno = 4711;
    ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);
    ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, CLOCK_REALTIME, &past), ETIMEDOUT);
    ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, CLOCK_REALTIME, &wrong), EINVAL);
    ck_assert_int_eq(wait_in_vain(h, 1), ETIMEDOUT);
    ck_assert_int_eq(fairsem_shared_release(h, -1), EINVAL);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), ENOENT);
    ck_assert_int_eq(fairsem_shared_open(&(fairsem_shared_t *){ NULL }, own_name(), 0, 0, NULL),
                     ENOENT);
    ck_assert_int_eq(errno, 4711);
    ck_assert_int_eq(fairsem_shared_available(h), 0);
    ck_assert_int_eq(fairsem_shared_waiters(h), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* sem_wait: blocks while the value is 0, until another process posts. */
START_TEST(a_post_in_a_child_wakes_its_parent)
{
    for (int timed = 0; timed < 2; timed++) {
        fairsem_shared_t *h = make_segment(0, NO_UNDO);
        const struct timespec later = from_now(CLOCK_REALTIME, 600000);
        fairsem_shared_stat_t stat;
        pid_t child = fork();

        if (child == 0) {
            await_queue(h, 1);
            CHILD_CHECK(fairsem_shared_release(h, 1) == 0);
            _exit(0);
        }
        ck_assert_int_eq(timed ? fairsem_shared_acquire_until(h, 1, CLOCK_REALTIME, &later)
                               : fairsem_shared_acquire(h, 1), 0);
        ck_assert_int_eq(status_of(child), 0);
        ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
        ck_assert(stat.waits == 1 && stat.grants == 1 && stat.available == 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

static _Atomic int *handled;

static void count_signal(int number)
{
    (void)number;
    atomic_fetch_add(handled, 1);
}

/*
 * sem_wait, sem_timedwait: EINTR when a signal handler has run.  Differs: a signal does not end a
 * wait, because the waiter would lose its place in the queue.  A token can end it.
 */
START_TEST(a_signal_handler_runs_and_the_wait_goes_on)
{
    struct sigaction action = { .sa_handler = count_signal };      /* no SA_RESTART */

    handled = share(sizeof *handled);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    for (int timed = 0; timed < 2; timed++) {
        fairsem_shared_t *h = make_segment(0, NO_UNDO);
        pid_t child = fork();

        if (child == 0) {
            CHILD_CHECK((timed ? fairsem_shared_acquire_for(h, 1, 600000000000)
                               : fairsem_shared_acquire(h, 1)) == 0);
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

/* sem_wait: a call that does not succeed changes nothing.  Here SIGKILL ends it. */
START_TEST(a_waiter_that_is_killed_takes_no_later_post)
{
    fairsem_shared_t *h = make_segment(0, NO_UNDO);
    pid_t child = queue_user(h, 1);

    kill_child(child);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* sem_wait: EDEADLK if a deadlock is detected.  That is optional; fairsem does not look for one. */
START_TEST(a_wait_for_a_unit_of_its_own_is_no_error)
{
    for (unsigned flags = 0; flags <= NO_UNDO; flags++) {
        fairsem_shared_t *h = make_segment(1, flags);

        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);
        ck_assert_int_eq(wait_in_vain(h, 1), ETIMEDOUT);
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
 * sem_wait: a cancellation point (XSH 2.9.5.2).  Differs: only a call that waits is one, so no
 * thread ends with units that it has just acquired.
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

/* sem_timedwait: never times out if it can lock at once. */
START_TEST(a_deadline_in_the_past_does_not_matter_while_a_unit_is_free)
{
    static const struct timespec dawn = { 0, 0 };

    for (unsigned flags = 0; flags <= NO_UNDO; flags++) {
        fairsem_shared_t *h = make_segment(4, flags);

        for (int i = 0; i < 2; i++) {
            const struct timespec past = from_now(clocks[i], -1);

            ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, clocks[i], &past), 0);
            ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, clocks[i], &dawn), 0);
        }
        ck_assert_int_eq(fairsem_shared_available(h), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

static bool has_passed(clockid_t clock, const struct timespec *deadline)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec > deadline->tv_sec
           || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

/*
 * sem_timedwait, sem_clockwait: ETIMEDOUT when the deadline has passed on the clock, not before,
 * and at once if it had passed.  The wait takes nothing: the next post stays available.
 */
START_TEST(a_wait_ends_when_its_deadline_has_passed)
{
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

/*
 * sem_timedwait: EINVAL for nanoseconds out of range if it would have blocked; else it need not
 * check.  Differs: it always checks, so that a test without contention finds the error.
 * sem_clockwait: EINVAL for a clock that is not supported.
 */
START_TEST(a_wrong_deadline_or_clock_is_refused_even_while_a_unit_is_free)
{
    const struct timespec wrong[] = { { time(NULL) + 60, -1 }, { time(NULL) + 60, 1000000000 },
                                      { 0, -1 }, { 0, 1000000000 } };
    const struct timespec right = { time(NULL) + 60, 999999999 };

    for (int units = 0; units < 2; units++) {
        fairsem_shared_t *h = make_segment(units, NO_UNDO);

        for (int i = 0; i < 8; i++)
            ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, clocks[i / 4], &wrong[i % 4]),
                             EINVAL);
        ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, CLOCK_PROCESS_CPUTIME_ID, &right),
                         EINVAL);
        ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, 4711, &right), EINVAL);
        ck_assert_int_eq(fairsem_shared_available(h), units);
        ck_assert_int_eq(fairsem_shared_release(h, 1 - units), 0);
        ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, CLOCK_REALTIME, &right), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("shared POSIX, wait", a_free_unit_is_taken_at_once,
              an_error_is_a_result_changes_nothing_and_leaves_errno_alone,
              a_post_in_a_child_wakes_its_parent, a_signal_handler_runs_and_the_wait_goes_on,
              a_waiter_that_is_killed_takes_no_later_post, a_wait_for_a_unit_of_its_own_is_no_error,
              a_thread_is_canceled_where_it_would_wait,
              a_deadline_in_the_past_does_not_matter_while_a_unit_is_free,
              a_wait_ends_when_its_deadline_has_passed,
              a_wrong_deadline_or_clock_is_refused_even_while_a_unit_is_free);
}
