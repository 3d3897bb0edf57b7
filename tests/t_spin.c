/* SPDX-License-Identifier: MIT */
/*
 * t_spin.c - how long the head of the line stays awake: for as long as a wake-up takes, which
 * is measured, and not where there is no other core.  (When it does so: t_awake.c.)
 */
#define _GNU_SOURCE             /* cpu_set_t */
#include "clockwork.h"

#define LOOK    16
#define WAKE_UP 16000
#define LATE    1000000

/* How long do these stay awake whose time does not come?  A new semaphore: each tries. */
static int64_t head_stays_awake_for(void)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    wait_for(&sem, LATE);
    return world.seen[0].awake;
}

static int64_t alerted_head_stays_awake_for(void)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    wait_as_second(&sem, LATE, LATE);
    ck_assert_int_eq(world.seen[0].awake, 0);
    return world.seen[1].awake;
}

/* One wake-up takes so long. */
static void wake_up_once(int64_t ns)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_NO_SPIN };
    fairsem_t sem;

    world.wake_up = ns;
    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    wait_for(&sem, LATE);
}

/* Read the clock once too often, and round. */
static void assert_about(int64_t ns, int64_t expected)
{
    ck_assert_int_ge(ns, expected - 2 * LOOK);
    ck_assert_int_le(ns, expected + 4 * LOOK);
}

/* The first of all tests, also where they share a process. */
START_TEST(nobody_stays_awake_until_a_wake_up_has_been_measured)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin_world(LOOK);
    world.wake_up = WAKE_UP;
    wait_for(&sem, LATE);
    ck_assert_int_le(world.seen[0].awake, LOOK);
    assert_about(head_stays_awake_for(), 2 * WAKE_UP);
}
END_TEST

START_TEST(the_head_stays_awake_for_two_wake_ups_and_an_alerted_one_for_half_a_wake_up)
{
    begin_world(LOOK);
    for (int64_t wake_up = 1600; wake_up <= 48000; wake_up += 1600) {
        let_wake_ups_take(wake_up);
        assert_about(head_stays_awake_for(), 2 * wake_up);
        let_wake_ups_take(wake_up);
        assert_about(alerted_head_stays_awake_for(), wake_up / 2);
    }
}
END_TEST

/* Those on the waker's own core are fast, and say nothing about the others. */
START_TEST(a_longer_wake_up_counts_for_a_quarter_and_a_shorter_one_for_a_sixteenth)
{
    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    wake_up_once(2 * WAKE_UP);
    assert_about(head_stays_awake_for(), 2 * (WAKE_UP + WAKE_UP / 4));
    let_wake_ups_take(WAKE_UP);
    wake_up_once(WAKE_UP / 2);
    assert_about(head_stays_awake_for(), 2 * (WAKE_UP - WAKE_UP / 32));
}
END_TEST

START_TEST(a_wake_up_of_more_than_50_us_counts_as_50_us)
{
    begin_world(LOOK);
    let_wake_ups_take(10000 / LOOK * LOOK);
    wake_up_once(LATE);
    assert_about(head_stays_awake_for(), 2 * (10000 + 40000 / 4));
    let_wake_ups_take(LATE);
    assert_about(head_stays_awake_for(), 2 * 50000);
    wake_up_once(48000);
    assert_about(head_stays_awake_for(), 2 * (50000 - 2000 / 16));
}
END_TEST

/* Whose turn it is sees it at once. */
START_TEST(who_is_granted_while_it_is_awake_goes_on)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    int64_t before;

    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    before = world.now;
    wait_for(&sem, WAKE_UP);
    ck_assert(!world.seen[0].asleep);
    ck_assert_int_eq(world.is.wakes, 0);
    assert_about(world.now - before, WAKE_UP);
}
END_TEST

#if defined(__linux__)
START_TEST(nobody_stays_awake_on_the_only_core)
{
    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    world.cores_mine = world.cores_of_main = 1;
    ck_assert_int_eq(head_stays_awake_for(), 0);
    ck_assert_int_eq(alerted_head_stays_awake_for(), 0);
}
END_TEST

START_TEST(a_thread_that_is_bound_to_a_core_of_its_own_stays_awake)
{
    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    world.cores_mine = 1;
    assert_about(head_stays_awake_for(), 2 * WAKE_UP);
    assert_about(alerted_head_stays_awake_for(), WAKE_UP / 2);
    world.cores_mine = 2;
    world.cores_of_main = 1;
    let_wake_ups_take(WAKE_UP);
    assert_about(head_stays_awake_for(), 2 * WAKE_UP);
}
END_TEST

/* One of the two masks, or both. */
START_TEST(where_the_system_does_not_say_where_a_thread_may_run_its_processors_are_counted)
{
    begin_world(LOOK);
    for (int unknown = 1; unknown <= 3; unknown++) {
        world.cores_mine = (unknown & 1) != 0 ? 0 : 1;
        world.cores_of_main = (unknown & 2) != 0 ? 0 : 1;
        let_wake_ups_take(WAKE_UP);
        world.processors = 1;
        errno = 4711;
        ck_assert_int_eq(head_stays_awake_for(), 0);
        ck_assert_int_eq(errno, 4711);
        world.processors = 2;
        assert_about(head_stays_awake_for(), 2 * WAKE_UP);
        ck_assert_int_eq(errno, 4711);
    }
}
END_TEST

START_TEST(the_system_is_not_asked_again_while_it_pays)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    wait_for(&sem, WAKE_UP);
    ck_assert_int_gt(world.asked, 0);
    world.asked = 0;
    for (int i = 0; i < 100; i++) {
        wait_for(&sem, WAKE_UP);
        ck_assert(!world.seen[0].asleep);
    }
    ck_assert_int_eq(world.asked, 0);
}
END_TEST
#endif

int main(void)
{
#if defined(__linux__)
    RUN_SUITE("spin", nobody_stays_awake_until_a_wake_up_has_been_measured,
              the_head_stays_awake_for_two_wake_ups_and_an_alerted_one_for_half_a_wake_up,
              a_longer_wake_up_counts_for_a_quarter_and_a_shorter_one_for_a_sixteenth,
              a_wake_up_of_more_than_50_us_counts_as_50_us,
              who_is_granted_while_it_is_awake_goes_on,
              nobody_stays_awake_on_the_only_core,
              a_thread_that_is_bound_to_a_core_of_its_own_stays_awake,
              where_the_system_does_not_say_where_a_thread_may_run_its_processors_are_counted,
              the_system_is_not_asked_again_while_it_pays);
#else
    RUN_SUITE("spin", nobody_stays_awake_until_a_wake_up_has_been_measured,
              the_head_stays_awake_for_two_wake_ups_and_an_alerted_one_for_half_a_wake_up,
              a_longer_wake_up_counts_for_a_quarter_and_a_shorter_one_for_a_sixteenth,
              a_wake_up_of_more_than_50_us_counts_as_50_us,
              who_is_granted_while_it_is_awake_goes_on);
#endif
}
