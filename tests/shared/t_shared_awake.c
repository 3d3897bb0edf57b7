/* SPDX-License-Identifier: MIT */
/*
 * t_shared_awake.c - the wait strategies between processes.  The front waiter spins, or yields if the releasing
 * thread needs the waiter's core.  The next waiters yield while their grants are near.  And pre-wakes: which
 * waiter a thread wakes when the thread is enqueued in a convoy.
 */
#include "crowd.h"

#include "awake/awake.h"
#include "shared/handle.h"
#include "workers.h"

#include <stdlib.h>
#include <time.h>

#define MS 1000000

static _Thread_local int own_kind = -1;     /* the first strategy of the thread: an fs_strategy */
static _Thread_local int own_core;

/* Numbers of threads that were pre-woken with FS_YIELD_NEXT, and with FS_YIELD_WOKEN. */
static _Atomic int woken_to_spin, woken_to_yield;

bool __wrap_fs_awake_stay(const _Atomic int *word, int value, const _Atomic uint8_t *plan,
                          int64_t enqueued_ns, const struct fs_deadline *deadline);
bool __wrap_fs_awake_stay(const _Atomic int *word, int value, const _Atomic uint8_t *plan,
                          int64_t enqueued_ns, const struct fs_deadline *deadline)
{
    (void)word;
    (void)value;
    (void)enqueued_ns;
    (void)deadline;
    if (own_kind < 0)
        own_kind = *plan;
    if (*plan == FS_YIELD_WOKEN || *plan == FS_YIELD_NEXT)
        atomic_fetch_add(*plan == FS_YIELD_NEXT ? &woken_to_spin : &woken_to_yield, 1);
    return true;
}

int __wrap_fs_cpu_current(void);
int __wrap_fs_cpu_current(void)
{
    return own_core;
}

int __wrap_fs_cpu_count(void);
int __wrap_fs_cpu_count(void)
{
    return 8;
}

static fairsem_shared_t *the_segment;
static _Atomic int wakes[3];    /* number of wake-ups for each of the first three slots */

int __real_fs_shared_wake(const _Atomic int *word, int count);
int __wrap_fs_shared_wake(const _Atomic int *word, int count);
int __wrap_fs_shared_wake(const _Atomic int *word, int count)
{
    for (int i = 0; the_segment != NULL && i < 3; i++)
        atomic_fetch_add(&wakes[i], word == &the_segment->slots[i].state);
    return __real_fs_shared_wake(word, count);
}

static void sleep_for(long ns)
{
    nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* Returns the first strategy of the thread, or NULL. */
static void *acquire(void *h)
{
    int *kind = malloc(sizeof *kind);

    if (fairsem_shared_acquire(h, 1) != 0)
        return NULL;
    *kind = own_kind < 0 ? FS_SLEEP_AT_ONCE : own_kind;
    return kind;
}

static int64_t waiters(fairsem_shared_t *h)
{
    fairsem_shared_stat_t stat;

    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    return stat.waiters;
}

/* Enqueue threads one after the other, then make one grant after each pause.  Stores their first strategies. */
static void wait_in_line(fairsem_shared_t *h, int threads, long pause, int *kind)
{
    pthread_t thread[24];

    for (int i = 0; i < threads; i++) {
        start_thread(&thread[i], acquire, h);
        while (waiters(h) != i + 1)
            moment();
    }
    for (int i = 0; i < threads; i++) {
        void *result;

        sleep_for(pause);
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
        ck_assert_int_eq(pthread_join(thread[i], &result), 0);
        ck_assert_ptr_nonnull(result);
        kind[i] = *(int *)result;
        free(result);
    }
}

static fairsem_shared_t *begin(unsigned flags)
{
    const fairsem_shared_attr_t attr = { .flags = flags | FAIRSEM_SHARED_NO_UNDO };
    fairsem_shared_t *h;

    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &attr), 0);
    return h;
}

START_TEST(waiters_yield_while_their_grants_are_near)
{
    fairsem_shared_t *h = begin(0);
    int kind[24];

    wait_in_line(h, 24, 0, kind);
    ck_assert_int_eq(kind[0], FS_SPIN_AS_FRONT);
    ck_assert_int_eq(kind[1], FS_SLEEP_AT_ONCE);
    for (int i = 2; i < 11; i++)
        ck_assert_int_eq(kind[i], FS_YIELD_IN_QUEUE);
    for (int i = 11; i < 24; i++)
        ck_assert_int_eq(kind[i], FS_SLEEP_AT_ONCE);
    for (int i = 0; i < 60; i++)
        wait_in_line(h, 3, 2 * MS, kind);
    ck_assert_int_eq(kind[2], FS_SLEEP_AT_ONCE);     /* the third grant is 6 ms away */
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* Grants of one release have the same time, so they show no hand-off interval. */
START_TEST(grants_of_one_release_teach_nothing)
{
    fairsem_shared_t *h = begin(0);

    h->segment->awake.interval = 20;
    for (int round = 0; round < 5; round++) {
        pthread_t thread[4];

        for (int i = 0; i < 4; i++) {
            start_thread(&thread[i], acquire, h);
            while (waiters(h) != i + 1)
                moment();
        }
        ck_assert_int_eq(fairsem_shared_release(h, 4), 0);
        for (int i = 0; i < 4; i++) {
            void *result;

            ck_assert_int_eq(pthread_join(thread[i], &result), 0);
            free(result);
        }
    }
    ck_assert_int_eq(h->segment->awake.interval, 20);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* The front waits for 1 ms, which is more than twice as long as a wake-up takes. */
START_TEST(a_front_that_times_out_late_teaches_that_it_does_not_pay)
{
    fairsem_shared_t *h = begin(0);

    ck_assert_int_eq(fairsem_shared_acquire_for(h, 1, MS), ETIMEDOUT);
    ck_assert_int_eq(h->segment->awake.as_front, 2);
    ck_assert_int_eq(h->segment->awake.as_front_here, 2);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(the_front_yields_if_its_granter_needs_its_core)
{
    fairsem_shared_t *h = begin(0);
    int kind;

    h->segment->awake = (struct fs_awake){ .as_front = 15 };
    wait_in_line(h, 1, 0, &kind);
    ck_assert_int_eq(kind, FS_YIELD_AS_FRONT);
    h->segment->awake = (struct fs_awake){ .as_front = 15,
                                                 .as_front_here = 15 };
    wait_in_line(h, 1, 0, &kind);
    ck_assert_int_eq(kind, FS_SLEEP_AT_ONCE);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(no_waiter_stays_awake_if_the_segment_says_so)
{
    fairsem_shared_t *h = begin(FAIRSEM_SHARED_NO_SPIN);
    int kind[5];

    wait_in_line(h, 5, 0, kind);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(kind[i], FS_SLEEP_AT_ONCE);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* ---- Pre-wakes ---- */

static void *acquire_on_core(void *arg)
{
    own_core = (int)(intptr_t)arg;
    return fairsem_shared_acquire(the_segment, 1) == 0 ? arg : NULL;
}

/* Start threads that wait on these cores, and return when all sleep. */
static void sleep_in_line(pthread_t *thread, const int *core, int threads)
{
    for (int i = 0; i < threads; i++) {
        start_thread(&thread[i], acquire_on_core, (void *)(intptr_t)core[i]);
        while (waiters(the_segment) != i + 1)
            moment();
        while (the_segment->slots[i].strategy != FS_SLOT_SLEEPS)
            moment();
    }
}

static void begin_crowd(int turn)
{
    the_segment = begin(0);
    the_segment->segment->awake = (struct fs_awake){ .as_front = 15,
                                                           .as_front_here = 15,
                                                           .interval = (uint8_t)turn };
    the_segment->segment->awake.holders_core = 7;
    woken_to_spin = woken_to_yield = 0;
    for (int i = 0; i < 3; i++)
        wakes[i] = 0;
}

static void end_crowd(pthread_t *thread, int threads)
{
    fairsem_shared_t *h = the_segment;

    ck_assert_int_eq(fairsem_shared_release(h, threads), 0);
    for (int i = 0; i < threads; i++) {
        void *result;

        ck_assert_int_eq(pthread_join(thread[i], &result), 0);
        ck_assert_ptr_nonnull(result);
    }
    the_segment = NULL;
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}

/*
 * Enqueue three threads on these cores, and check which thread the third one wakes: with &woken_to_yield the
 * first, with &woken_to_spin the second, with NULL none.
 */
static void three_join(int turn, const int core[3], _Atomic int *woken)
{
    pthread_t thread[3];

    begin_crowd(turn);
    sleep_in_line(thread, core, 3);
    while (woken != NULL && *woken == 0)
        moment();
    if (woken != &woken_to_yield)
        ck_assert_int_eq(the_segment->slots[0].strategy, FS_SLOT_SLEEPS);
    for (int i = 1; woken == NULL && i < 3; i++)
        ck_assert_int_eq(the_segment->slots[i].strategy, FS_SLOT_SLEEPS);
    ck_assert_int_eq(wakes[0], woken == &woken_to_yield);
    ck_assert_int_eq(wakes[1], woken == &woken_to_spin);
    ck_assert_int_eq(wakes[2], 0);
    end_crowd(thread, 3);
    ck_assert_int_eq(woken_to_spin, woken == &woken_to_spin);
    ck_assert_int_eq(woken_to_yield, woken == &woken_to_yield);
}

START_TEST(the_third_wakes_the_first_that_was_enqueued_on_its_core)
{
    three_join(0, (const int[]){ 1, 2, 2 }, &woken_to_spin);
}
END_TEST

START_TEST(the_third_wakes_the_front_if_no_waiter_is_on_its_core_or_the_holder_is)
{
    three_join(0, (const int[]){ 1, 2, 3 }, &woken_to_yield);
    three_join(0, (const int[]){ 1, 7, 7 }, &woken_to_yield);
}
END_TEST

/*
 * A hand-off interval of 54 us (35) is too long to spin, but short enough to yield at the front.  108 us (39)
 * is too long for both.
 */
START_TEST(no_waiter_is_pre_woken_if_hand_off_intervals_are_long)
{
    three_join(35, (const int[]){ 1, 2, 2 }, &woken_to_yield);
    three_join(39, (const int[]){ 1, 2, 2 }, NULL);
    three_join(255, (const int[]){ 1, 2, 2 }, NULL);    /* damage */
}
END_TEST

START_TEST(the_holders_core_is_the_core_of_the_last_granted_waiter)
{
    pthread_t thread;

    begin_crowd(0);
    sleep_in_line(&thread, (const int[]){ 5 }, 1);
    own_core = 6;
    ck_assert_int_eq(fairsem_shared_release(the_segment, 1), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(the_segment->segment->awake.holders_core, 5);
    ck_assert_int_eq(fairsem_shared_close(the_segment), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared awake", waiters_yield_while_their_grants_are_near,
              grants_of_one_release_teach_nothing,
              a_front_that_times_out_late_teaches_that_it_does_not_pay,
              the_front_yields_if_its_granter_needs_its_core,
              no_waiter_stays_awake_if_the_segment_says_so,
              the_third_wakes_the_first_that_was_enqueued_on_its_core,
              the_third_wakes_the_front_if_no_waiter_is_on_its_core_or_the_holder_is,
              no_waiter_is_pre_woken_if_hand_off_intervals_are_long,
              the_holders_core_is_the_core_of_the_last_granted_waiter);
}
