/* SPDX-License-Identifier: MIT */
/*
 * t_awake.c - the head of the queue stays awake for its grant where that pays, and sleeps where it
 * does not: each semaphore learns which, again and again.  (For how long: t_spin.c.)
 *
 * This holds for any good way of learning.  t_lessons.c checks the numbers of the library's own.
 */
#include "heads.h"

static const fairsem_attr_t no_spin = { .flags = FAIRSEM_NO_SPIN };
static const fairsem_attr_t interruptible = { .flags = FAIRSEM_INTERRUPTIBLE };
static const fairsem_attr_t with_bypass = { .flags = FAIRSEM_BOUNDED_BYPASS,
                                            .bypass_ns = INT64_C(1) << 60 };

/* ---- The head ---- */

START_TEST(the_head_stays_awake_when_its_grant_comes_soon)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    assert_awake(&sem, awake_as_head, SOON, 1000);
    assert_awake(&sem, awake_as_head, WAKE_UP * 9 / 5, 1000);
    ck_assert_int_eq(world.is.wakes, 0);
}
END_TEST

START_TEST(the_head_sleeps_when_its_grant_does_not_come_soon)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    ck_assert(!awake_as_head(&sem, WAKE_UP * 11 / 5));
    ck_assert_int_le(tries(&sem, tries_as_head, 10000), 10);
}
END_TEST

START_TEST(a_semaphore_learns_that_staying_awake_pays_no_more)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    assert_awake(&sem, awake_as_head, SOON, 10000);
    ck_assert_int_le(tries(&sem, tries_as_head, 1000), 10);
}
END_TEST

START_TEST(a_semaphore_learns_that_staying_awake_pays_again)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    tries(&sem, tries_as_head, 10000);
    ck_assert_int_le(until_awake(&sem, awake_as_head, SOON), 20);
    for (int i = 0; i < 600; i++)
        awake_as_head(&sem, SOON);
    assert_awake(&sem, awake_as_head, SOON, 1000);
}
END_TEST

/* A thread stays awake if that pays in more than two of three cases. */
START_TEST(one_failure_in_four_is_no_reason_to_sleep_and_one_in_two_is)
{
    fairsem_t often = FAIRSEM_INITIALIZER(0), seldom = FAIRSEM_INITIALIZER(0);
    int awake = 0;

    begin();
    for (int i = 0; i < 1000; i++) {
        if (i % 4 != 3)
            awake += awake_as_head(&often, SOON);
        else
            awake += tries_as_head(&often);
    }
    ck_assert_int_ge(awake, 900);
    awake = 0;
    for (int i = 0; i < 1000; i++)
        awake += i % 2 != 0 ? awake_as_head(&seldom, SOON) : tries_as_head(&seldom);
    ck_assert_int_le(awake, 250);
}
END_TEST

static bool yields_as_head(fairsem_t *sem, int64_t after)
{
    return awake_as_head(sem, after) && world.seen[0].yields != 0;
}

static bool spins_as_head(fairsem_t *sem, int64_t after)
{
    return awake_as_head(sem, after) && world.seen[0].yields == 0;
}

/* A thread that spins on the releaser's core only delays it. */
START_TEST(a_releaser_on_the_same_core_is_a_reason_to_yield)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    world.core_of_others = world.core;
    for (int i = 0; i < 20; i++)
        awake_as_head(&sem, SOON);
    assert_awake(&sem, yields_as_head, SOON, 1000);
    ck_assert_int_le(tries(&sem, tries_as_head, 1000), 10);
    ck_assert_int_le(until_awake(&sem, yields_as_head, SOON), 20);
    world.core_of_others = world.core + 1;
    ck_assert_int_le(until_awake(&sem, spins_as_head, SOON), 20);
}
END_TEST

START_TEST(a_head_that_yields_does_so_for_two_wake_ups)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    world.cores = 1;
    ck_assert(tries_as_head(&sem));
    ck_assert_int_gt(world.seen[0].yields, 0);
    ck_assert_int_ge(world.seen[0].awake, 2 * WAKE_UP - 2 * LOOK);
    ck_assert_int_le(world.seen[0].awake, 2 * WAKE_UP + 2 * LOOK);
}
END_TEST

START_TEST(each_semaphore_learns_for_itself)
{
    fairsem_t pays = FAIRSEM_INITIALIZER(0), does_not = FAIRSEM_INITIALIZER(0);

    begin();
    for (int i = 0; i < 1000; i++) {
        tries_as_head(&does_not);
        ck_assert(awake_as_head(&pays, SOON));
    }
    ck_assert_int_le(tries(&does_not, tries_as_head, 1000), 4);
}
END_TEST

/* However soon the grant comes.  A thread that cannot stay awake is not woken early either. */
START_TEST(no_thread_stays_awake_with_the_flag_that_says_so)
{
    fairsem_t sem;

    begin();
    ck_assert_int_eq(fairsem_init(&sem, 0, &no_spin), 0);
    for (int round = 0; round < 10; round++) {
        wait_for(&sem, SOON);
        ck_assert(world.seen[0].asleep);
        ck_assert_int_eq(world.seen[0].awake, 0);
        wait_as_second(&sem, LATE, SOON_AFTER_EARLY_WAKE);
        ck_assert(world.seen[1].asleep);
        ck_assert_int_eq(world.seen[1].awake, 0);
        ck_assert_int_eq(world.seen[1].wakes, 0);
    }
}
END_TEST

/* Its signals are held while it is awake.  After an early wake it would have to hold them again. */
START_TEST(an_interruptible_head_stays_awake_but_is_not_woken_early)
{
    fairsem_t sem;

    if (!FS_HAS_FUTEX)
        NOT_HERE("no interruptible semaphores here");
    begin();
    ck_assert_int_eq(fairsem_init(&sem, 0, &interruptible), 0);
    assert_awake(&sem, awake_as_head, SOON, 1000);
    for (int round = 0; round < 10; round++) {
        wait_as_second(&sem, LATE, SOON_AFTER_EARLY_WAKE);
        ck_assert(world.seen[1].asleep);
        ck_assert_int_eq(world.seen[1].wakes, 0);
    }
}
END_TEST

START_TEST(only_the_head_stays_awake)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    assert_awake(&sem, awake_as_head, SOON, 100);
    for (int i = 0; i < 100; i++) {
        wait_as_second(&sem, SOON, LATE_AFTER_EARLY_WAKE);
        ck_assert(world.seen[0].asleep);
        ck_assert_int_eq(world.seen[0].awake, 0);
    }
}
END_TEST

/* A ticket waits for more units than there will be, behind all threads. */
static void let_a_ticket_wait(fairsem_t *sem, fairsem_ticket_t *ticket)
{
    ck_assert_int_eq(fairsem_ticket_take(ticket, sem, 1000000, 1, NULL, NULL), EINPROGRESS);
}

START_TEST(a_thread_that_joins_as_the_head_before_others_stays_awake)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket = { 0 };

    begin();
    let_a_ticket_wait(&sem, &ticket);
    assert_awake(&sem, awake_as_head, SOON, 100);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
}
END_TEST

/* ---- Waits that teach nothing ---- */

START_TEST(units_that_are_there_at_once_teach_nothing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket = { 0 };

    begin();
    tries(&sem, tries_as_head, 10000);
    let_a_ticket_wait(&sem, &ticket);
    ck_assert_int_eq(fairsem_release(&sem, 10000), 0);
    for (int i = 0; i < 10000; i++)
        ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_le(tries(&sem, tries_as_head, 1000), 2);
}
END_TEST

static void cancel(void *token)
{
    fairsem_token_cancel(token, 0);
}

/* Canceled while it is awake, or asleep. */
static void wait_until_canceled(fairsem_t *sem, int64_t after)
{
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    const fairsem_wait_t how = { .token = &token };

    begin_plan();
    plan(after, cancel, &token);
    ck_assert_int_eq(fairsem_acquire_with(sem, 1, &how), ECANCELED);
    ck_assert_int_eq(fairsem_token_destroy(&token), 0);
}

START_TEST(waits_that_end_without_a_grant_teach_nothing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    assert_awake(&sem, awake_as_head, SOON, 100);
    for (int i = 0; i < 1000; i++)
        wait_until_canceled(&sem, LATE);
    assert_awake(&sem, awake_as_head, SOON, 100);
    tries(&sem, tries_as_head, 1000);
    for (int i = 0; i < 1000; i++)
        wait_until_canceled(&sem, SOON);
    ck_assert_int_le(tries(&sem, tries_as_head, 100), 2);
}
END_TEST

/* ---- The next head, woken one grant ahead ---- */

START_TEST(the_next_head_is_woken_early_and_awake_when_its_grant_comes_soon)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    assert_awake(&sem, awake_as_second, SOON_AFTER_EARLY_WAKE, 1000);
    ck_assert_int_eq(world.is.wakes, 1);
}
END_TEST

START_TEST(the_next_head_sleeps_on_when_its_grant_does_not_come_soon)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    ck_assert(!awake_as_second(&sem, WAKE_UP + WAKE_UP * 7 / 10));
    ck_assert_int_le(tries(&sem, woken_early_as_second, 10000), 10);
}
END_TEST

START_TEST(a_semaphore_learns_that_an_early_wake_pays_no_more_and_that_it_pays_again)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    assert_awake(&sem, awake_as_second, SOON_AFTER_EARLY_WAKE, 10000);
    ck_assert_int_le(tries(&sem, woken_early_as_second, 1000), 10);
    tries(&sem, woken_early_as_second, 10000);
    ck_assert_int_le(until_awake(&sem, awake_as_second, SOON_AFTER_EARLY_WAKE), 20);
    for (int i = 0; i < 600; i++)
        awake_as_second(&sem, SOON_AFTER_EARLY_WAKE);
    assert_awake(&sem, awake_as_second, SOON_AFTER_EARLY_WAKE, 1000);
}
END_TEST

/* On which core it and the granter run does not matter. */
START_TEST(an_early_wake_depends_on_the_time_alone)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    world.core_of_others = world.core;
    assert_awake(&sem, awake_as_second, SOON_AFTER_EARLY_WAKE, 1000);
}
END_TEST

/* To stay awake as the head can pay where an early wake does not, and the other way round. */
START_TEST(early_wakes_and_heads_that_join_as_such_are_learned_separately)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    tries(&sem, tries_as_head, 1000);
    assert_awake(&sem, awake_as_second, SOON_AFTER_EARLY_WAKE, 1000);
    ck_assert_int_le(tries(&sem, tries_as_head, 100), 2);

    ck_assert_int_eq(fairsem_init(&sem, 0, NULL), 0);
    tries(&sem, woken_early_as_second, 1000);
    assert_awake(&sem, awake_as_head, SOON, 1000);
    ck_assert_int_le(tries(&sem, woken_early_as_second, 100), 2);
}
END_TEST

/* It would find nothing to claim, see bypass.h. */
START_TEST(no_thread_is_woken_early_where_threads_may_pass)
{
    fairsem_t sem;

    begin();
    ck_assert_int_eq(fairsem_init(&sem, 0, &with_bypass), 0);
    for (int i = 0; i < 10; i++)
        ck_assert(!woken_early_as_second(&sem));
}
END_TEST

/* The head is woken to claim, comes, and is granted the units that are free. */
START_TEST(a_head_that_is_woken_to_claim_learns_from_it)
{
    fairsem_t sem;

    begin();
    ck_assert_int_eq(fairsem_init(&sem, 0, &with_bypass), 0);
    assert_awake(&sem, awake_as_head, SOON, 100);
    ck_assert_int_le(tries(&sem, tries_as_head, 1000), 10);
    ck_assert_int_le(until_awake(&sem, awake_as_head, SOON), 20);
}
END_TEST

int main(void)
{
    RUN_SUITE("awake", the_head_stays_awake_when_its_grant_comes_soon,
              the_head_sleeps_when_its_grant_does_not_come_soon,
              a_semaphore_learns_that_staying_awake_pays_no_more,
              a_semaphore_learns_that_staying_awake_pays_again,
              one_failure_in_four_is_no_reason_to_sleep_and_one_in_two_is,
              a_releaser_on_the_same_core_is_a_reason_to_yield,
              a_head_that_yields_does_so_for_two_wake_ups,
              each_semaphore_learns_for_itself,
              no_thread_stays_awake_with_the_flag_that_says_so,
              an_interruptible_head_stays_awake_but_is_not_woken_early,
              only_the_head_stays_awake,
              a_thread_that_joins_as_the_head_before_others_stays_awake,
              units_that_are_there_at_once_teach_nothing,
              waits_that_end_without_a_grant_teach_nothing,
              the_next_head_is_woken_early_and_awake_when_its_grant_comes_soon,
              the_next_head_sleeps_on_when_its_grant_does_not_come_soon,
              a_semaphore_learns_that_an_early_wake_pays_no_more_and_that_it_pays_again,
              an_early_wake_depends_on_the_time_alone,
              early_wakes_and_heads_that_join_as_such_are_learned_separately,
              no_thread_is_woken_early_where_threads_may_pass,
              a_head_that_is_woken_to_claim_learns_from_it);
}
