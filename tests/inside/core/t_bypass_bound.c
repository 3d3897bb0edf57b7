/* SPDX-License-Identifier: MIT */
/*
 * t_bypass_bound.c - bounded bypass: other threads may overtake a waiter until attr.bypass_ns after it was
 * enqueued.  And a thread stays awake for a while before it is enqueued.
 */
#include "clockwork.h"

#include "fast_path.h"
#include "queue.h"
#include "section.h"
#include "wait.h"

#define LOOK    16
#define BOUND   1000000
#define WAKE_UP 16384
#define SOON    WAKE_UP
#define LATE    (WAKE_UP * 5)     /* longer than a thread stays awake */

static int passed[PLANNED];

/* The front sleeps.  Before the bound, the release wakes it to compete, and the tryacquire takes the unit. */
static void release_and_try(void *sem)
{
    fairsem_release(sem, 1);
    passed[world.done - 1] = fairsem_tryacquire(sem, 1) == 0;
}

START_TEST(a_waiter_may_be_passed_until_the_bound_and_not_after_it)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_BOUNDED_BYPASS | FAIRSEM_NO_SPIN,
                                  .bypass_ns = BOUND };
    fairsem_t sem;

    begin_world(LOOK);
    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    begin_plan();
    plan(BOUND / 4, release_and_try, &sem);
    plan(BOUND / 2 + 100 * LOOK, release_and_try, &sem);
    plan(BOUND - 100 * LOOK, release_and_try, &sem);
    plan(BOUND + 100 * LOOK, release_and_try, &sem);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(world.done, PLANNED);
    for (int i = 0; i < PLANNED; i++)
        ck_assert_int_eq(passed[i], i < PLANNED - 1);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* ---- Before it joins ---- */

static void begin_with(fairsem_t *sem, unsigned flags)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_BOUNDED_BYPASS | flags, .bypass_ns = BOUND };

    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    world.now++;        /* off the multiples of 16, at which a thread stays awake in any case */
    ck_assert_int_eq(fairsem_init(sem, 0, &attr), 0);
}

static int64_t waits(const fairsem_t *sem)
{
    fairsem_stat_t stat;

    ck_assert_int_eq(fairsem_stat(sem, &stat), 0);
    return stat.waits;
}

START_TEST(a_thread_takes_a_unit_that_comes_soon_and_is_not_enqueued)
{
    fairsem_t sem;

    begin_with(&sem, 0);
    for (int i = 0; i < 100; i++) {
        wait_for(&sem, SOON);
        ck_assert_int_lt(world.now - world.start, SOON + 32 * LOOK);    /* the thread returns at once */
    }
    ck_assert_int_eq(waits(&sem), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

/* The release wakes the front, which has not run yet. */
START_TEST(a_thread_takes_a_unit_ahead_of_a_sleeper_and_is_not_enqueued)
{
    struct fs_wait sleeper = { .waiter.units = 1 };
    struct fs_section in;
    fairsem_t sem;

    begin_with(&sem, 0);
    fs_section_begin(&in, fs_inside(&sem));
    fs_enqueue_thread(&in, &sleeper.waiter, 0);
    fs_section_end(&in);
    sleeper.waiter.state = FS_PARKED;
    wait_for(&sem, SOON);
    ck_assert_int_eq(sleeper.waiter.state, FS_WOKEN);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    fs_section_begin(&in, fs_inside(&sem));
    fs_dequeue(&in, &sleeper.waiter, FS_BY_DEADLINE);
    fs_section_end(&in);
}
END_TEST

START_TEST(a_thread_that_gets_no_unit_within_two_wake_ups_is_enqueued)
{
    fairsem_t sem;

    begin_with(&sem, 0);
    wait_for(&sem, LATE);
    ck_assert(world.seen[0].asleep);
    ck_assert_int_ge(world.seen[0].awake, 2 * WAKE_UP);
    ck_assert_int_eq(waits(&sem), 1);
}
END_TEST

/* A thread that is enqueued at once reads the clock once. */
static bool joins_at_once(fairsem_t *sem)
{
    wait_for(sem, LATE);
    return world.seen[0].awake <= LOOK;
}

START_TEST(where_staying_awake_does_not_pay_threads_are_enqueued_at_once)
{
    fairsem_t sem;

    begin_with(&sem, 0);
    for (int i = 0; i < 20; i++)
        (void)joins_at_once(&sem);
    for (int i = 0; i < 20; i++)
        ck_assert(joins_at_once(&sem));
}
END_TEST

START_TEST(one_thread_in_16_stays_awake_and_if_that_pays_all_threads_do_again)
{
    fairsem_t sem;
    int tries = 0;

    begin_with(&sem, 0);
    for (int i = 0; i < 20; i++)
        (void)joins_at_once(&sem);
    for (int i = 0; i < 32; i++) {
        world.now = (world.now & ~INT64_C(15)) + i % 16;
        tries += !joins_at_once(&sem);
    }
    ck_assert_int_eq(tries, 2);
    for (int i = 0; i < 16 * 8; i++) {
        world.now = (world.now & ~INT64_C(15)) + i % 16;
        wait_for(&sem, SOON);
    }
    world.now |= 1;
    ck_assert(!joins_at_once(&sem));
}
END_TEST

/* Each of these calls returns or is enqueued at once, as without bypass. */
START_TEST(a_thread_that_cannot_be_granted_soon_does_not_stay_awake)
{
    fairsem_t sem;

    begin_with(&sem, FAIRSEM_NO_SPIN);
    wait_for(&sem, LATE);
    ck_assert_int_eq(world.seen[0].awake, 0);
    begin_with(&sem, 0);
    world.cores = 1;
    wait_for(&sem, LATE);
    ck_assert_int_le(world.seen[0].awake, LOOK);
    begin_with(&sem, 0);
    begin_plan();
    plan(LATE, release_one, &sem);
    ck_assert_int_eq(fairsem_acquire(&sem, 0), 0);
    ck_assert_int_eq(fairsem_close(&sem, 0), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), ESHUTDOWN);
    ck_assert_int_le(world.is.awake, LOOK);
}
END_TEST

START_TEST(a_request_that_is_too_large_is_refused_at_once)
{
    fairsem_t sem;
    const fairsem_attr_t attr = { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = BOUND, .capacity = 1 };

    begin_with(&sem, 0);
    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    begin_plan();
    plan(LATE, release_one, &sem);
    ck_assert_int_eq(fairsem_acquire(&sem, 2), E2BIG);
    ck_assert_int_eq(world.is.awake, 0);
}
END_TEST

/* ---- A wait that has not joined the queue ends as any other wait ---- */

static void close_it(void *sem)
{
    ck_assert_int_eq(fairsem_close(sem, 0), 0);
}

static void cancel_it(void *token)
{
    ck_assert_int_eq(fairsem_token_cancel(token, EINTR), 0);
}

static void set_the_clock_back(void *unused)
{
    (void)unused;
    world.now -= INT64_C(3600000000000);
}

static void *current_wait;

static void nothing(void)
{
}

static void begin_wait(void *wait)
{
    current_wait = wait;
}

/* Interrupt the wait as the interposer does when a handler has run. */
static void interrupt_it(void *unused)
{
    (void)unused;
    fs_interrupt_wait(current_wait, false);
}

static int wait_until(act_fn *what, void *arg, fairsem_t *sem, fairsem_token_t *token)
{
    const fairsem_wait_t how = { .token = token };

    begin_plan();
    plan(SOON, what, arg);
    plan(LATE, release_one, sem);
    return fairsem_acquire_with(sem, 1, &how);
}

START_TEST(a_close_or_a_token_ends_the_wait_of_a_thread_that_is_not_enqueued)
{
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    fairsem_t sem;

    begin_with(&sem, 0);
    ck_assert_int_eq(wait_until(cancel_it, &token, &sem, &token), EINTR);
    ck_assert_int_le(world.is.awake, SOON + 4 * LOOK);
    ck_assert_int_eq(wait_until(close_it, &sem, &sem, NULL), ESHUTDOWN);
    ck_assert_int_le(world.is.awake, SOON + 4 * LOOK);
    ck_assert_int_eq(waits(&sem), 0);
}
END_TEST

/* When the thread returns, it owns its units, and is no longer on the token's list. */
START_TEST(with_a_token_a_thread_takes_units_before_it_is_enqueued_as_well)
{
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    fairsem_t sem;

    begin_with(&sem, 0);
    ck_assert_int_eq(wait_until(release_one, &sem, &sem, &token), 0);
    ck_assert_int_eq(waits(&sem), 0);
    ck_assert_int_eq(fairsem_token_cancel(&token, EINTR), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

START_TEST(a_clock_that_is_set_back_ends_the_stay)
{
    fairsem_t sem;

    begin_with(&sem, 0);
    ck_assert_int_eq(wait_until(set_the_clock_back, NULL, &sem, NULL), 0);
    ck_assert(world.seen[1].asleep);
    ck_assert_int_le(world.seen[1].awake, SOON + 8 * LOOK);
}
END_TEST

START_TEST(a_handler_ends_the_wait_of_a_thread_that_is_not_enqueued)
{
    static const struct fs_signal_hooks guard = { nothing, nothing, begin_wait, nothing };
    fairsem_t sem;

    if (!FS_HAS_FUTEX)
        NOT_HERE("no interruptible semaphores here");
    fs_signal_hooks = &guard;
    begin_with(&sem, FAIRSEM_INTERRUPTIBLE);
    ck_assert_int_eq(wait_until(interrupt_it, NULL, &sem, NULL), EINTR);
    ck_assert_int_ge(world.is.awake, SOON);
    ck_assert_int_lt(world.is.awake, SOON + 2 * WAKE_UP + 16 * LOOK);   /* at most SOON before the queue */
    fs_signal_hooks = NULL;
}
END_TEST

/* Without hooks, the thread would not notice that a handler has run. */
START_TEST(with_unhooked_handlers_a_thread_is_enqueued_at_once)
{
    fairsem_t sem;

    if (!FS_HAS_FUTEX)
        NOT_HERE("no interruptible semaphores here");
    begin_with(&sem, FAIRSEM_INTERRUPTIBLE);
    for (int i = 0; i < 10; i++)
        wait_for(&sem, LATE);       /* until it does not pay to stay awake as the front */
    ck_assert_int_eq(atomic_load(&fs_inside(&sem)->before_queue), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("bypass bound", a_waiter_may_be_passed_until_the_bound_and_not_after_it,
              a_thread_takes_a_unit_that_comes_soon_and_is_not_enqueued,
              a_thread_takes_a_unit_ahead_of_a_sleeper_and_is_not_enqueued,
              a_thread_that_gets_no_unit_within_two_wake_ups_is_enqueued,
              where_staying_awake_does_not_pay_threads_are_enqueued_at_once,
              one_thread_in_16_stays_awake_and_if_that_pays_all_threads_do_again,
              a_thread_that_cannot_be_granted_soon_does_not_stay_awake,
              a_request_that_is_too_large_is_refused_at_once,
              a_close_or_a_token_ends_the_wait_of_a_thread_that_is_not_enqueued,
              with_a_token_a_thread_takes_units_before_it_is_enqueued_as_well,
              a_clock_that_is_set_back_ends_the_stay,
              a_handler_ends_the_wait_of_a_thread_that_is_not_enqueued,
              with_unhooked_handlers_a_thread_is_enqueued_at_once);
}
