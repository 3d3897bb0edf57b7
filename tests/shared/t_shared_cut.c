/* SPDX-License-Identifier: MIT */
/*
 * t_shared_cut.c - a process that changes the number of units is killed before each store to the
 * segment, and before each other step of that call.  The number is then the old or the new one, and
 * a second repair changes nothing.  ../search/shared/ does the same with all other calls, and under
 * every schedule.
 *
 * Another test delays a canceler in each step: it must not touch what others may have freed.
 */
#include "crowd.h"

#include "shared/attach.h"
#include "shared/repair.h"
#include "shared/watch.h"
#include "workers.h"

#include <string.h>

static fairsem_shared_t *sem;
static _Atomic int *reached;      /* the child has come to the end of its call */
static _Atomic int64_t countdown; /* to the step at which this process dies; 0: never */

static void step(const char *what)
{
    (void)what;
    if (atomic_load(&countdown) != 0 && atomic_fetch_sub(&countdown, 1) == 1)
        kill(getpid(), SIGKILL);
}

static int64_t new_total;

/* It holds one of two units.  It dies in step k, or sets *reached: the call has fewer steps. */
static void be_the_child(int64_t k)
{
    CHILD_CHECK(fairsem_shared_acquire(sem, 1) == 0);
    atomic_store(&countdown, k);
    fs_shared_step = step;
    CHILD_CHECK(fairsem_shared_set_units(sem, new_total) == 0);
    fs_shared_step = NULL;
    atomic_store(reached, 1);
    _exit(0);
}

/* A second repair changes nothing in the segment. */
static void check_repair_is_idempotent(void)
{
    static const struct fs_dead nobody;
    static unsigned char once[65536];
    struct fs_shared_section in;

    ck_assert_int_le(sem->size, (int64_t)sizeof once);
    ck_assert_int_eq(fs_watch_check(sem, NULL, FS_EVERYBODY), 0);
    ck_assert_int_eq(fs_shared_enter(&in, sem, NULL), 0);
    fs_shared_repair(&in, &nobody);
    memcpy(once, sem->segment, (size_t)sem->size);
    fs_shared_repair(&in, &nobody);
    ck_assert_int_eq(memcmp(once, sem->segment, (size_t)sem->size), 0);
    ck_assert_int_eq(fs_shared_section_end(&in), 0);
}

static int64_t drain(void)
{
    int64_t units = 0;

    while (fairsem_shared_tryacquire(sem, 1) == 0)
        units++;
    return units;
}

/* Returns whether the child died. */
static bool cut_change(int64_t k)
{
    fairsem_shared_stat_t stat;
    pid_t child;
    bool died;

    atomic_store(reached, 0);
    sem = make_small_segment(2, 0, 4, 4);
    child = fork();
    if (child == 0)
        be_the_child(k);
    waitpid(child, NULL, 0);
    died = !atomic_load(reached);
    check_repair_is_idempotent();
    ck_assert_int_eq(fairsem_shared_stat(sem, &stat), 0);
    ck_assert(stat.capacity == new_total || (died && stat.capacity == 2));
    ck_assert_int_eq(drain(), stat.capacity);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
    return died;
}

START_TEST(units_changed_by_one_that_dies_are_as_before_or_as_asked)
{
    int64_t steps = 0;

    reached = share(sizeof *reached);
    for (new_total = 0; new_total <= 4; new_total += 2) {
        for (int64_t k = 1; cut_change(k); k++)
            steps++;
    }
    ck_assert_int_gt(steps, 15);
}
END_TEST

/* ---- A canceler that is delayed in any step ---- */

#define NAP_MS 30

static _Thread_local int64_t steps_left;       /* to the step in which this thread naps; 0: none */
static _Thread_local bool napped;

/* Longer than others wait for the lock before they sleep in order, and look at its owner. */
static void nap_in_step(const char *what)
{
    (void)what;
    if (steps_left != 0 && --steps_left == 0) {
        napped = true;
        nap(NAP_MS);
    }
}

static fairsem_token_t their_token;
static int64_t their_timeout_ns;
static _Atomic int their_wait;          /* STILL_WAITING, or the result */
static int their_close;                 /* read when the thread has ended */
static _Atomic int may_close;

static void *wait_and_close(void *arg)
{
    const fairsem_wait_t how = { .token = &their_token, .timeout_ns = their_timeout_ns };

    atomic_store(&their_wait, fairsem_shared_acquire_with(sem, 1, &how));
    while (!atomic_load(&may_close))
        nap(0);
    their_close = fairsem_shared_close(sem);
    return arg;
}

/* True if the canceler has napped in step k, of a cancellation of a wait. */
static bool cancel_in_step(int64_t k, int64_t timeout_ns)
{
    pthread_t thread;

    sem = make_segment(1, 0);
    ck_assert_int_eq(fairsem_shared_acquire(sem, 1), 0);
    ck_assert_int_eq(fairsem_token_init(&their_token), 0);
    their_timeout_ns = timeout_ns;
    atomic_store(&their_wait, STILL_WAITING);
    atomic_store(&may_close, 0);
    fs_shared_step = nap_in_step;
    start_thread(&thread, wait_and_close, NULL);
    while (fairsem_shared_waiters(sem) == 0 && atomic_load(&their_wait) == STILL_WAITING)
        nap(0);         /* it comes, and may leave before we look */
    atomic_store(&may_close, 1);
    napped = false;
    steps_left = k;
    ck_assert_int_eq(fairsem_token_cancel(&their_token, EPIPE), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    fs_shared_step = NULL;
    steps_left = 0;
    ck_assert(their_wait == EPIPE || (timeout_ns != 0 && their_wait == ETIMEDOUT));
    ck_assert_int_eq(their_close, 0);
    ck_assert_int_eq(fairsem_token_destroy(&their_token), 0);
    return napped;
}

/* It closes its handle at once.  A canceler that still used the segment, or the wait, would crash. */
START_TEST(a_canceled_waiter_returns_when_its_canceler_is_through)
{
    int64_t steps = 0;

    while (cancel_in_step(steps + 1, 0))
        steps++;
    /* If the time had passed before the cancellation, there was nothing to cancel: a longer one. */
    for (int64_t k = 1; k <= steps; k++) {
        for (int64_t ns = NAP_MS / 2 * INT64_C(1000000); !cancel_in_step(k, ns); ns *= 2)
            continue;
    }
}
END_TEST

/* Another process finds damage without the lock, at the worst moment. */
static void damage_before_slow_is_cleared(const char *what)
{
    if (strcmp(what, "clear SLOW") == 0) {
        fs_shared_step = NULL;
        (void)fs_shared_is_damaged(sem);
    }
}

START_TEST(damage_closes_the_fast_path_even_if_a_section_is_about_to_open_it)
{
    fairsem_shared_stat_t stat;

    sem = make_segment(2, FAIRSEM_SHARED_NO_UNDO);
    ck_assert_int_eq(fairsem_shared_tryacquire(sem, 1), 0);
    fs_shared_step = damage_before_slow_is_cleared;
    ck_assert_int_eq(fairsem_shared_stat(sem, &stat), ENOTRECOVERABLE);
    ck_assert(fs_shared_step == NULL);      /* that step was reached */
    ck_assert_int_eq(fairsem_shared_tryacquire(sem, 1), ENOTRECOVERABLE);
    ck_assert_int_eq(fairsem_shared_release(sem, 1), ENOTRECOVERABLE);
    (void)fairsem_shared_close(sem);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared cut", units_changed_by_one_that_dies_are_as_before_or_as_asked,
              a_canceled_waiter_returns_when_its_canceler_is_through,
              damage_closes_the_fast_path_even_if_a_section_is_about_to_open_it);
}
