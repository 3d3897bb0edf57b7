/* SPDX-License-Identifier: MIT */
/* t_lessons.c - how a semaphore learns who should stay awake: the numbers in src/awake.h. */
#define _GNU_SOURCE             /* cpu_set_t */
#include "heads.h"

/* Is this, of waits that never pay, one that tries?  After 0, 1, 3, 7 ... 511 that do not. */
static bool is_due(int wait)
{
    int pause = 0, due = 1;

    while (due < wait) {
        pause = pause < 511 ? pause * 2 + 1 : pause;
        due += pause + 1;
    }
    return due == wait;
}

START_TEST(the_next_try_comes_after_twice_as_many_waits_up_to_511)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    for (int i = 1; i <= 5000; i++)
        ck_assert_int_eq(tries_as_head(&sem), is_due(i));
    ck_assert_int_eq(fairsem_init(&sem, 0, NULL), 0);
    for (int i = 1; i <= 5000; i++)
        ck_assert_int_eq(alerted_as_second(&sem), is_due(i));
}
END_TEST

/* Each failure costs the credit of two successes, of which there are 16 at most. */
START_TEST(the_more_it_has_paid_the_longer_it_is_tried_but_no_more_than_eight_times)
{
    begin();
    for (int successes = 1; successes <= 20; successes++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        int credit = successes < 16 ? successes : 16;

        assert_awake(&sem, awake_as_head, SOON, successes);
        for (; credit >= 2; credit -= 2)
            ck_assert(tries_as_head(&sem));
        if (credit == 0)
            ck_assert(awake_as_head(&sem, SOON));
        /* The credit is 1 now. */
        for (int i = 1; i <= 50; i++)
            ck_assert_int_eq(tries_as_head(&sem), is_due(i));
    }
}
END_TEST

/* After a try of no avail 511 waits do not try, after a success 255, 127 ... 1, 0. */
START_TEST(when_it_pays_again_the_pauses_become_half_as_long_each_time)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    for (int i = 1; i <= 2047; i++)
        ck_assert_int_eq(tries_as_head(&sem), is_due(i));
    ck_assert(is_due(2047));
    for (int pause = 511; pause > 0; pause /= 2) {
        for (int i = 0; i < pause; i++)
            ck_assert(!awake_as_head(&sem, SOON));
        ck_assert(awake_as_head(&sem, SOON));
    }
    assert_awake(&sem, awake_as_head, SOON, 100);
}
END_TEST

int main(void)
{
    RUN_SUITE("lessons", the_next_try_comes_after_twice_as_many_waits_up_to_511,
              the_more_it_has_paid_the_longer_it_is_tried_but_no_more_than_eight_times,
              when_it_pays_again_the_pauses_become_half_as_long_each_time);
}
