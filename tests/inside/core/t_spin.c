/* SPDX-License-Identifier: MIT */
/*
 * t_spin.c - how long the front of the queue stays awake.  That depends on the measured time of a wake-up, and
 * on the cores that the holders need.  (t_awake.c tests when staying awake pays.)
 */
#include "clockwork.h"

#define LOOK    16
#define WAKE_UP 16000
#define LATE    1000000

/* Returns how long the front spins if no grant comes.  On a new semaphore each front stays awake. */
static int64_t front_spins_for(void)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    wait_for(&sem, LATE);
    return spun(0);
}

static int64_t pre_woken_front_spins_for(void)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    wait_as_second(&sem, LATE, LATE);
    ck_assert_int_eq(world.seen[0].awake, 0);
    return spun(1);
}

/* Make one wake-up take `ns`. */
static void wake_up_once(int64_t ns)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_NO_SPIN };
    fairsem_t sem;

    world.wake_up = ns;
    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    wait_for(&sem, LATE);
}

/* The clock may be read once too often, and times are rounded. */
static void assert_about(int64_t ns, int64_t expected)
{
    ck_assert_int_ge(ns, expected - 2 * LOOK);
    ck_assert_int_le(ns, expected + 4 * LOOK);
}

/* The first test, because all may share a process. */
START_TEST(no_thread_stays_awake_until_a_wake_up_has_been_measured)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin_world(LOOK);
    world.wake_up = WAKE_UP;
    wait_for(&sem, LATE);
    ck_assert_int_le(world.seen[0].awake, LOOK);
    assert_about(front_spins_for(), 2 * WAKE_UP);
}
END_TEST

START_TEST(the_front_spins_for_two_wake_ups_and_if_pre_woken_for_half_of_one)
{
    begin_world(LOOK);
    for (int64_t wake_up = 1600; wake_up <= 48000; wake_up += 1600) {
        let_wake_ups_take(wake_up);
        assert_about(front_spins_for(), 2 * wake_up);
        let_wake_ups_take(wake_up);
        assert_about(pre_woken_front_spins_for(), wake_up / 2);
    }
}
END_TEST

/* Wake-ups on the waker's own core are short, and do not count. */
START_TEST(a_longer_wake_up_counts_for_a_quarter_and_a_shorter_one_for_a_sixteenth)
{
    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    wake_up_once(2 * WAKE_UP);
    assert_about(front_spins_for(), 2 * (WAKE_UP + WAKE_UP / 4));
    let_wake_ups_take(WAKE_UP);
    wake_up_once(WAKE_UP / 2);
    assert_about(front_spins_for(), 2 * (WAKE_UP - WAKE_UP / 32));
}
END_TEST

START_TEST(a_wake_up_of_more_than_50_us_counts_as_50_us)
{
    begin_world(LOOK);
    let_wake_ups_take(10000 / LOOK * LOOK);
    wake_up_once(LATE);
    assert_about(front_spins_for(), 2 * (10000 + 40000 / 4));
    let_wake_ups_take(LATE);
    assert_about(front_spins_for(), 2 * 50000);
    wake_up_once(48000);
    assert_about(front_spins_for(), 2 * (50000 - 2000 / 16));
}
END_TEST

/* The thread sees the grant at once. */
START_TEST(a_thread_granted_while_it_is_awake_goes_on_at_once)
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

START_TEST(no_thread_spins_on_the_only_core)
{
    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    world.cores = 1;
    ck_assert_int_eq(front_spins_for(), 0);
    ck_assert_int_eq(pre_woken_front_spins_for(), 0);
}
END_TEST

/* Returns how long a front spins that asks for n units. */
static int64_t spins_beside_holders(int64_t units, int64_t capacity, int64_t n, int cores)
{
    const fairsem_attr_t attr = { .capacity = capacity };
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, units, &attr), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, units), 0);
    world.cores = cores;
    begin_plan();
    plan(LATE, release_units, &(struct units){ &sem, n });
    ck_assert_int_eq(fairsem_acquire(&sem, n), 0);
    return spun(0);
}

/* A core for each thread that can hold units, and one for the thread that spins. */
START_TEST(the_cores_of_the_holders_come_first)
{
    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    for (int64_t holders = 1; holders <= 5; holders++) {
        for (int cores = 1; cores <= 6; cores++) {
            int64_t expected = holders + 1 <= cores ? 2 * WAKE_UP : 0;

            assert_about(spins_beside_holders(holders, 0, 1, cores), expected);
            assert_about(spins_beside_holders(holders, holders, 1, cores), expected);
            assert_about(spins_beside_holders(holders * 10 + 9, 0, 10, cores), expected);
        }
    }
    /* The capacity is the number of units, not the initial number. */
    assert_about(spins_beside_holders(1, 3, 1, 3), 0);
    assert_about(spins_beside_holders(1, 3, 1, 4), 2 * WAKE_UP);
    /* The capacity of a sem_t says nothing about the holders. */
    assert_about(spins_beside_holders(1, INT_MAX, 1, 2), 2 * WAKE_UP);
    assert_about(spins_beside_holders(2, INT_MAX, 1, 2), 0);
    /* At least one holder is assumed, even if there were too few units at first. */
    assert_about(spins_beside_holders(0, 0, 1, 2), 2 * WAKE_UP);
    assert_about(spins_beside_holders(0, 0, 1, 1), 0);
    assert_about(spins_beside_holders(3, 0, 7, 2), 2 * WAKE_UP);
    assert_about(spins_beside_holders(3, 3, 3, 2), 2 * WAKE_UP);
}
END_TEST

START_TEST(a_static_semaphore_knows_its_holders_too)
{
    fairsem_t two = FAIRSEM_INITIALIZER(2);

    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    ck_assert_int_eq(fairsem_acquire(&two, 2), 0);
    wait_for(&two, LATE);
    ck_assert_int_eq(spun(0), 0);
    world.cores = 3;
    wait_for(&two, LATE);
    assert_about(spun(0), 2 * WAKE_UP);
}
END_TEST

int main(void)
{
    RUN_SUITE("spin", no_thread_stays_awake_until_a_wake_up_has_been_measured,
              the_front_spins_for_two_wake_ups_and_if_pre_woken_for_half_of_one,
              a_longer_wake_up_counts_for_a_quarter_and_a_shorter_one_for_a_sixteenth,
              a_wake_up_of_more_than_50_us_counts_as_50_us,
              a_thread_granted_while_it_is_awake_goes_on_at_once,
              no_thread_spins_on_the_only_core,
              the_cores_of_the_holders_come_first,
              a_static_semaphore_knows_its_holders_too);
}
