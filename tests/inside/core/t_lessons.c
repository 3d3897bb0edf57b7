/* SPDX-License-Identifier: MIT */
/* t_lessons.c - how a semaphore learns whether to stay awake: the numbers in src/core/awake.c. */
#include "heads.h"

/* Either doubt after a grant that came soon, or late. */
static int after(int doubt, bool soon)
{
    if (soon)
        return doubt > 0 ? doubt - 1 : 0;
    return doubt + 2 < 16 ? doubt + 2 : 16;
}

/* Any sequence of early and late grants: the thread stays awake while the doubt is below 8. */
static void learn_both(fairsem_t *sem, uint32_t seed, int late_in_16)
{
    int as_head = 0, early = 0;

    for (int i = 0; i < 2000; i++) {
        bool soon;

        seed = seed * 1664525 + 1013904223;
        soon = (int)(seed >> 28) >= late_in_16;
        if ((seed >> 20 & 1) != 0) {
            wait_for(sem, soon ? SOON : LATE);
            ck_assert_int_eq(world.seen[0].awake != 0, as_head < 8);
            as_head = after(as_head, soon);
        } else {
            wait_as_second(sem, LATE, soon ? SOON_AFTER_EARLY_WAKE : LATE_AFTER_EARLY_WAKE);
            ck_assert_int_eq(world.seen[1].wakes != 0, early < 8);
            early = after(early, soon);
        }
    }
}

START_TEST(a_wait_that_pays_takes_one_from_the_doubt_any_other_adds_two)
{
    begin();
    for (int late_in_16 = 0; late_in_16 <= 16; late_in_16++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);

        learn_both(&sem, (uint32_t)late_in_16, late_in_16);
    }
}
END_TEST

/* A head that sleeps teaches as much as one that stayed awake. */
START_TEST(nine_grants_undo_what_a_semaphore_learned_from_any_number)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    ck_assert_int_eq(tries(&sem, tries_as_head, 10000), 4);
    for (int i = 0; i < 9; i++)
        ck_assert(!awake_as_head(&sem, SOON));
    assert_awake(&sem, awake_as_head, SOON, 100);
}
END_TEST

START_TEST(staying_awake_pays_if_the_grant_comes_within_two_wake_ups)
{
    begin();
    for (int64_t ns = LOOK; ns < 4 * WAKE_UP; ns += LOOK) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);

        for (int i = 0; i < 20; i++)
            wait_for(&sem, ns);
        if (ns < 2 * WAKE_UP - 4 * LOOK)
            ck_assert(!world.seen[0].asleep);
        if (ns > 2 * WAKE_UP + 4 * LOOK)
            ck_assert_int_eq(world.seen[0].awake, 0);
    }
}
END_TEST

START_TEST(an_early_wake_pays_if_the_grant_comes_within_one_and_a_half_wake_ups)
{
    begin();
    for (int64_t ns = LOOK; ns < 4 * WAKE_UP; ns += LOOK) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);

        for (int i = 0; i < 20; i++)
            wait_as_second(&sem, LATE, ns);
        if (ns < WAKE_UP + WAKE_UP / 2 - 4 * LOOK)
            ck_assert_int_ne(world.seen[1].wakes, 0);
        if (ns > WAKE_UP + WAKE_UP / 2 + 4 * LOOK)
            ck_assert_int_eq(world.seen[1].wakes, 0);
    }
}
END_TEST

/* ---- Beside other programs ---- */

#define VERY_LATE 1600000       /* more than a millisecond */
#define MS        1000000

/* Many turns that are short, then one that is late.  Returns when it was. */
static int64_t is_late_on(fairsem_t *sem, int core_of_releaser)
{
    int core = world.core_of_others;

    for (int i = 0; i < 20; i++)
        wait_for(sem, SOON);
    world.core_of_others = core_of_releaser;
    wait_for(sem, VERY_LATE);
    world.core_of_others = core;
    return world.now;
}

/* The releaser was on the core of the thread that was granted before. */
static int64_t is_late_once(fairsem_t *sem)
{
    return is_late_on(sem, world.core);
}

/* Late twice: what came before the first one says nothing. */
static int64_t is_late_twice(fairsem_t *sem)
{
    (void)is_late_once(sem);
    return is_late_once(sem);
}

static bool stays_awake_at(fairsem_t *sem, int64_t when)
{
    world.now = when;
    for (int i = 0; i < 8; i++) {       /* in case this semaphore has learned that it does not pay */
        if (awake_as_head(sem, SOON))
            return true;
    }
    return false;
}

START_TEST(all_sleep_while_other_programs_have_the_cores_for_twice_as_long_each_time)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0), other = FAIRSEM_INITIALIZER(0);
    int64_t pause = 5 * MS, late;

    begin();
    world.others_compute = true;
    late = is_late_twice(&sem);
    for (int i = 0; i < 20; i++) {
        ck_assert(!stays_awake_at(&other, late + pause - MS));
        ck_assert(!stays_awake_at(&sem, late + pause - MS));
        ck_assert(stays_awake_at(&sem, late + pause));
        late = is_late_once(&sem);
        if (i < 9)
            pause *= 2;         /* up to 2.56 s */
    }
    ck_assert(!stays_awake_at(&sem, late + pause - MS));
    ck_assert(stays_awake_at(&sem, late + pause + INT64_C(1100) * MS));
    late = is_late_once(&sem);          /* the pause was long ago */
    ck_assert(!stays_awake_at(&sem, late + 4 * MS));
    ck_assert(stays_awake_at(&sem, late + 5 * MS));
}
END_TEST

START_TEST(nobody_is_woken_ahead_while_all_sleep)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    int64_t late;

    begin();
    world.others_compute = true;
    late = is_late_twice(&sem);
    ck_assert(!woken_early_as_second(&sem));
    world.now = late + 5 * MS;
    ck_assert(woken_early_as_second(&sem));
}
END_TEST

START_TEST(threads_stay_awake_if_their_own_process_has_the_cores)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    for (int i = 0; i < 20; i++)
        ck_assert(stays_awake_at(&sem, is_late_once(&sem)));
}
END_TEST

START_TEST(a_late_grant_says_nothing_where_those_who_release_do_not_acquire)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    world.others_compute = true;
    for (int i = 0; i < 10; i++)
        ck_assert(stays_awake_at(&sem, is_late_on(&sem, !world.core)));
}
END_TEST

START_TEST(a_late_grant_says_nothing_where_turns_are_long)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0), other = FAIRSEM_INITIALIZER(0);

    begin();
    world.others_compute = true;
    for (int i = 0; i < 100; i++)
        wait_for(&sem, LATE);
    for (int i = 0; i < 10; i++)
        wait_for(&sem, VERY_LATE);
    ck_assert(awake_as_head(&other, SOON));
}
END_TEST

int main(void)
{
    RUN_SUITE("lessons", a_wait_that_pays_takes_one_from_the_doubt_any_other_adds_two,
              nine_grants_undo_what_a_semaphore_learned_from_any_number,
              staying_awake_pays_if_the_grant_comes_within_two_wake_ups,
              an_early_wake_pays_if_the_grant_comes_within_one_and_a_half_wake_ups,
              all_sleep_while_other_programs_have_the_cores_for_twice_as_long_each_time,
              nobody_is_woken_ahead_while_all_sleep,
              threads_stay_awake_if_their_own_process_has_the_cores,
              a_late_grant_says_nothing_where_those_who_release_do_not_acquire,
              a_late_grant_says_nothing_where_turns_are_long);
}
