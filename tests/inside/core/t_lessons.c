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

int main(void)
{
    RUN_SUITE("lessons", a_wait_that_pays_takes_one_from_the_doubt_any_other_adds_two,
              nine_grants_undo_what_a_semaphore_learned_from_any_number,
              staying_awake_pays_if_the_grant_comes_within_two_wake_ups,
              an_early_wake_pays_if_the_grant_comes_within_one_and_a_half_wake_ups);
}
