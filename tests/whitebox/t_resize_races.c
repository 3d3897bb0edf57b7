/* SPDX-License-Identifier: MIT */
/*
 * t_resize_races.c - the capacity changes between two loads of a thread that has no mutex.
 *
 * This program includes the library's fast_path.h, so that it can act after every load in it.
 */
#include "suite.h"
#include "workers.h"

#include "section.h"

#include <errno.h>

static void (*step_in)(void);
static int loads_left;      /* until it does */

static void loaded(const volatile void *object)
{
    void (*now)(void) = step_in;

    (void)object;
    if (now == NULL || --loads_left != 0)
        return;
    step_in = NULL;
    now();
}

#include "loads.h"

#include "fast_path.h"

static fairsem_t sem;

static void grow(void)
{
    ck_assert_int_eq(fairsem_set_capacity(&sem, 4), 0);
}

static void grow_and_shrink(void)
{
    ck_assert_int_eq(fairsem_set_capacity(&sem, 4), 0);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 1), 0);
}

static void begin(void)
{
    const fairsem_attr_t attr = { .capacity = 1 };

    ck_assert_int_eq(fairsem_init(&sem, 1, &attr), 0);
}

/*
 * A thread asks for 2 units.  With capacity 1 that is E2BIG; with capacity 4 the units are there.
 * So at no moment may it find too few.
 */
START_TEST(no_thread_finds_too_few_units_if_there_were_never_too_few)
{
    void (*const steps[])(void) = { grow, grow_and_shrink };

    for (int s = 0; s < 2; s++) {
        for (int at = 1; at <= 4; at++) {
            begin();
            loads_left = at;
            step_in = steps[s];
            ck_assert(!fs_plainly_too_few(fs_inside(&sem), 2));
            step_in = NULL;
            ck_assert_int_eq(fairsem_destroy(&sem), 0);
        }
    }
}
END_TEST

/* As resize() in capacity.c leaves it between its two stores. */
START_TEST(in_the_middle_of_a_resize_a_thread_takes_the_mutex)
{
    struct fs_sem *s = fs_inside(&sem);

    begin();
    s->resizes = 1;
    s->limit = 4;
    ck_assert(!fs_plainly_too_few(s, 2));
    s->resizes = 2;
    ck_assert(fs_plainly_too_few(s, 2));
}
END_TEST

/* Also after a resize. */
START_TEST(too_few_units_are_seen_without_the_mutex)
{
    begin();
    ck_assert_int_eq(fairsem_set_capacity(&sem, 4), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 3), 0);
    ck_assert(fs_plainly_too_few(fs_inside(&sem), 2));
    ck_assert(!fs_plainly_too_few(fs_inside(&sem), 5));
    ck_assert_int_eq(fairsem_tryacquire(&sem, 2), EAGAIN);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 5), E2BIG);
    ck_assert(fairsem_would_block(&sem, 2) && !fairsem_would_block(&sem, 5));
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("resize races", no_thread_finds_too_few_units_if_there_were_never_too_few,
              in_the_middle_of_a_resize_a_thread_takes_the_mutex,
              too_few_units_are_seen_without_the_mutex);
}
