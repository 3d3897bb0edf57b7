/* SPDX-License-Identifier: MIT */
/*
 * t_fault_clock.c - the machine's clock is set while threads wait.  A deadline on CLOCK_REALTIME
 * follows the clock, forward and back; a deadline on CLOCK_MONOTONIC does not.
 *
 * The clock is simulated: the linker redirects the calls that read a clock, and the calls that sleep until a
 * time, to this file (--wrap).  As in the kernel, setting a clock changes the length of the sleeps until a time
 * of that clock.
 */
#include "askers.h"
#include "stress.h"
#include "suite.h"
#include "wide_time.h"

#include "system/parking.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>

#define HOUR_MS   3600000
#define SLICE_NS  1000000       /* how often a simulated sleep checks whether the clock was set */
#define MOST_CONDS 64

static _Atomic int64_t set_by_s;            /* by how many seconds the clock of the machine was set */
static _Atomic int64_t later_by_s;          /* how far CLOCK_MONOTONIC is ahead of the kernel's */
static pthread_cond_t *_Atomic on_monotonic[MOST_CONDS]; /* all others use CLOCK_REALTIME */
static _Atomic int monotonic_conds;
static _Atomic int realtime_sleeps;         /* number of sleeps until a time of CLOCK_REALTIME */

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
    int result = __real_clock_gettime(clock, ts);

    if (clock == CLOCK_REALTIME)
        ts->tv_sec += (time_t)atomic_load(&set_by_s);
    else if (clock == CLOCK_MONOTONIC)
        ts->tv_sec += (time_t)atomic_load(&later_by_s);
    return result;
}

int __real_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr);
int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr);
int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
    clockid_t clock = CLOCK_REALTIME;

    if (attr != NULL && pthread_condattr_getclock(attr, &clock) == 0 && clock == CLOCK_MONOTONIC)
        atomic_store(&on_monotonic[atomic_fetch_add(&monotonic_conds, 1) % MOST_CONDS], c);
    return __real_pthread_cond_init(c, attr);
}

static bool is_monotonic(const pthread_cond_t *c)
{
    for (int i = 0; i < MOST_CONDS; i++) {
        if (atomic_load(&on_monotonic[i]) == c)
            return true;
    }
    return false;
}

static bool reached(const struct timespec *at)
{
    struct timespec now;

    __wrap_clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > at->tv_sec || (now.tv_sec == at->tv_sec && now.tv_nsec >= at->tv_nsec);
}

/* One slice from now, on the kernel's clock. */
static struct timespec next_look(void)
{
    struct timespec look;

    __real_clock_gettime(CLOCK_REALTIME, &look);
    look.tv_nsec += SLICE_NS;
    if (look.tv_nsec >= 1000000000) {
        look.tv_nsec -= 1000000000;
        look.tv_sec++;
    }
    return look;
}

int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
    struct timespec look = next_look();
    int result;

    if (is_monotonic(c))
        return __real_pthread_cond_timedwait(c, m, t);
    atomic_fetch_add(&realtime_sleeps, 1);
    if (reached(t))
        return ETIMEDOUT;
    /* The end of a slice is a spurious wake-up.  A signal between two slices is lost, so the caller
     * must check its condition itself. */
    result = __real_pthread_cond_timedwait(c, m, &look);
    return result == ETIMEDOUT && !reached(t) ? 0 : result;
}

/* A wake-up and the end of a slice look the same: after both, the caller loads its state. */
bool __real_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline);
bool __wrap_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline);
bool __wrap_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline)
{
    struct fs_deadline look;

    if (deadline == NULL || deadline->clock != CLOCK_REALTIME)
        return __real_fs_park_on_word(word, value, deadline);
    atomic_fetch_add(&realtime_sleeps, 1);
    while (atomic_load(word) == value && !reached(&deadline->at)) {
        look = fs_deadline_after(SLICE_NS);
        if (__real_fs_park_on_word(word, value, &look))
            return true;
    }
    return false;
}

/* Two threads that wait until the same time, each on its own clock. */
struct pair {
    fairsem_t       sem;
    struct timespec realtime_at, monotonic_at;
    struct asker    realtime, monotonic;
};

static void queue_pair(struct pair *p, int64_t ms, unsigned flags)
{
    const fairsem_attr_t attr = { .flags = flags };

    atomic_store(&set_by_s, 0);
    *p = (struct pair){ .realtime_at = from_now(CLOCK_REALTIME, ms),
                        .monotonic_at = from_now(CLOCK_MONOTONIC, ms) };
    p->realtime.how.clock = CLOCK_REALTIME;
    p->realtime.how.deadline = &p->realtime_at;
    p->monotonic.how.clock = CLOCK_MONOTONIC;
    p->monotonic.how.deadline = &p->monotonic_at;
    ck_assert_int_eq(fairsem_init(&p->sem, 0, &attr), 0);
    asker_start(&p->realtime, &p->sem, 1);
    asker_start(&p->monotonic, &p->sem, 1);
}

static void clock_set_forward(unsigned flags)
{
    struct pair p;

    queue_pair(&p, HOUR_MS, flags);
    await_waiters(&p.sem, 2);
    atomic_store(&set_by_s, 7200);
    ck_assert_int_eq(worker_join(&p.realtime.w), ETIMEDOUT);
    ck_assert_int_eq(fairsem_waiters(&p.sem), 1);
    ck_assert(worker_waits(&p.monotonic.w));
    ck_assert_int_eq(fairsem_acquire_until(&p.sem, 1, CLOCK_REALTIME, &p.realtime_at), ETIMEDOUT);
    ck_assert_int_eq(fairsem_release(&p.sem, 1), 0);
    ck_assert_int_eq(worker_join(&p.monotonic.w), 0);
    ck_assert_int_eq(fairsem_available(&p.sem), 0);
    ck_assert_int_eq(fairsem_destroy(&p.sem), 0);
}

/* The time-out of the monotonic wait shows that the time of both waits has passed. */
static void clock_set_back(unsigned flags)
{
    struct pair p;

    /* On a slow machine the time may pass before the clock is set. */
    for (int64_t ms = 50;; ms *= 2) {
        queue_pair(&p, ms, flags);
        atomic_store(&set_by_s, -3600);
        ck_assert_int_eq(worker_join(&p.monotonic.w), ETIMEDOUT);
        if (worker_waits(&p.realtime.w))
            break;
        ck_assert_int_eq(worker_join(&p.realtime.w), ETIMEDOUT);
        ck_assert_int_eq(fairsem_destroy(&p.sem), 0);
    }
    ck_assert_int_eq(fairsem_waiters(&p.sem), 1);
    ck_assert(worker_waits(&p.realtime.w));
    atomic_store(&set_by_s, 3600);
    ck_assert_int_eq(worker_join(&p.realtime.w), ETIMEDOUT);
    ck_assert_int_eq(fairsem_waiters(&p.sem), 0);
    ck_assert_int_eq(fairsem_available(&p.sem), 0);
    ck_assert_int_eq(fairsem_destroy(&p.sem), 0);
}

static const unsigned with_and_without[] = { 0, FS_HAS_FUTEX ? FAIRSEM_INTERRUPTIBLE : 0 };

START_TEST(when_the_clock_is_set_forward_realtime_deadlines_pass_and_monotonic_ones_do_not)
{
    for (int i = 0; i < 2; i++)
        clock_set_forward(with_and_without[i]);
}
END_TEST

START_TEST(when_the_clock_is_set_back_realtime_waits_last_longer_and_monotonic_ones_do_not)
{
    for (int i = 0; i < 2; i++)
        clock_set_back(with_and_without[i]);
}
END_TEST

START_TEST(a_relative_time_does_not_follow_the_clock)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct timespec before, after;
    int64_t passed_ns;

    clock_gettime(CLOCK_MONOTONIC, &before);
    for (int i = 0; i < 4; i++) {
        atomic_store(&set_by_s, i % 2 == 0 ? 7200 : -7200);
        ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 5000000), ETIMEDOUT);
    }
    clock_gettime(CLOCK_MONOTONIC, &after);
    passed_ns = (int64_t)(after.tv_sec - before.tv_sec) * 1000000000
                + (after.tv_nsec - before.tv_nsec);
    ck_assert_int_ge(passed_ns, 4 * 5000000);
}
END_TEST

/* With a deadline after the aging, the thread would sleep on CLOCK_MONOTONIC, and check the deadline each
 * second. */
START_TEST(until_a_deadline_before_aging_a_thread_sleeps_on_the_clock_of_the_deadline)
{
    const fairsem_attr_t attr = { .aging_ns = HOUR_MS * INT64_C(1000000) };
    fairsem_t sem;

    atomic_store(&set_by_s, 0);
    atomic_store(&realtime_sleeps, 0);
    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    /* On a slow machine the time may pass before the thread sleeps. */
    for (int64_t ms = 20; atomic_load(&realtime_sleeps) == 0; ms *= 2) {
        struct timespec at = from_now(CLOCK_REALTIME, ms);

        ck_assert_int_eq(fairsem_acquire_until(&sem, 1, CLOCK_REALTIME, &at), ETIMEDOUT);
    }
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(no_unit_is_lost_while_the_clock_is_set_again_and_again)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    const int rounds = (int)stress_times(100);
    int granted = 0, late = 0;

    atomic_store(&set_by_s, 0);
    for (int round = 0; round < rounds; round++) {
        struct worker w = { .clock = CLOCK_REALTIME };
        struct timespec at = from_now(CLOCK_REALTIME, HOUR_MS);

        w.deadline = &at;
        worker_start(&w, &sem, 1);
        if (round % 2 == 0)
            await_waiters(&sem, 1);
        atomic_fetch_add(&set_by_s, round % 3 == 0 ? 7200 : -7200);
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        if (worker_join(&w) == 0) {
            granted++;
        } else {
            late++;
            ck_assert_int_eq(fairsem_tryacquire(&sem, 1), 0);
            ck_assert_int_eq(round % 3, 0);
        }
        ck_assert_int_eq(fairsem_available(&sem), 0);
    }
    ck_assert_int_eq(granted + late, rounds);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
}
END_TEST

/* A million waits of a few months have a sum that overflows; the test has three waits of 2^62 ns. */
START_TEST(the_sum_of_all_waits_stops_at_its_maximum)
{
    enum { TICKETS = 3 };
    const int64_t long_s = (INT64_C(1) << 62) / 1000000000;
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t tickets[TICKETS] = { { { 0 } } };
    fairsem_stat_t stat;

    if (sizeof(time_t) < sizeof(int64_t))
        NOT_HERE("time_t has 32 bits");
    for (int i = 0; i < TICKETS; i++)
        ck_assert_int_eq(fairsem_ticket_take(&tickets[i], &sem, 1, 0, NULL, NULL), EINPROGRESS);
    atomic_store(&later_by_s, long_s);
    for (int i = 0; i < TICKETS; i++) {
        ck_assert_int_eq(fairsem_ticket_return(&tickets[i]), 0);
        ck_assert_int_eq(fairsem_stat(&sem, &stat), 0);
        ck_assert(stat.wait_ns_total >= stat.wait_ns_max);
    }
    atomic_store(&later_by_s, 0);
    ck_assert_int_eq(stat.wait_ns_total, INT64_MAX);
    ck_assert_int_ge(stat.wait_ns_max, long_s * 1000000000);
}
END_TEST

static void takes_two_hours(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    (void)arg;
    atomic_store(&later_by_s, 7200);
}

START_TEST(a_drain_counts_its_time_from_the_call_and_not_from_the_last_callback)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    fairsem_ticket_t ticket = { 0 };
    const fairsem_wait_t how = { .timeout_ns = HOUR_MS * INT64_C(1000000) };

    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, takes_two_hours, NULL), EINPROGRESS);
    ck_assert_int_eq(fairsem_drain(&sem, 1, &how), ETIMEDOUT);
    ck_assert_int_eq(atomic_exchange(&later_by_s, 0), 7200);    /* reset: Check reads the clock as well */
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("fault clock",
              when_the_clock_is_set_forward_realtime_deadlines_pass_and_monotonic_ones_do_not,
              when_the_clock_is_set_back_realtime_waits_last_longer_and_monotonic_ones_do_not,
              a_relative_time_does_not_follow_the_clock,
              until_a_deadline_before_aging_a_thread_sleeps_on_the_clock_of_the_deadline,
              no_unit_is_lost_while_the_clock_is_set_again_and_again,
              the_sum_of_all_waits_stops_at_its_maximum,
              a_drain_counts_its_time_from_the_call_and_not_from_the_last_callback);
}
