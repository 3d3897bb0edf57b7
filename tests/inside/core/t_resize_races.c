/* SPDX-License-Identifier: MIT */
/*
 * t_resize_races.c - a change of the capacity, while other threads read the semaphore without the mutex; and a
 * fork between two stores of the change.
 *
 * This program includes the library's capacity.c, so that it can act after every store.
 */
#include "children.h"
#include "suite.h"
#include "workers.h"

#include "fast_path.h"
#include "section.h"

#include <errno.h>

static void fork_here(void);

#if defined(__clang__)
#define STORE __c11_atomic_store
#else
#define STORE __atomic_store_n
#endif

#undef atomic_store_explicit
#define atomic_store_explicit(object, value, order) (STORE(object, value, order), fork_here())

#include "capacity.c"

static fairsem_t sem;
static int stores_left;     /* until the fork, or 0 for no fork */

static void fork_here(void)
{
    pid_t child;

    if (stores_left == 0 || --stores_left != 0)
        return;
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_consume(&sem, 0) == 0);
        CHILD_CHECK(fairsem_capacity(&sem) - fairsem_available(&sem) == 4);
        CHILD_CHECK(fairsem_release(&sem, 4) == 0);
        CHILD_CHECK(fairsem_available(&sem) == fairsem_capacity(&sem));
        CHILD_CHECK(fairsem_release(&sem, 1) == EOVERFLOW);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
}

static void begin(void)
{
    const fairsem_attr_t attr = { .capacity = 1 };

    ck_assert_int_eq(fairsem_init(&sem, 1, &attr), 0);
}

/* The word and the limit must be read at one moment.  So a limit that has been set is read only under the
 * mutex. */
START_TEST(too_few_units_are_seen_without_the_mutex_while_the_capacity_is_the_first)
{
    const fairsem_attr_t attr = { .capacity = 4 };

    ck_assert_int_eq(fairsem_init(&sem, 1, &attr), 0);
    ck_assert(fs_plainly_too_few(fs_inside(&sem), 2));
    ck_assert(!fs_plainly_too_few(fs_inside(&sem), 5));
    ck_assert_int_eq(fairsem_set_capacity(&sem, 4), 0);
    ck_assert(!fs_plainly_too_few(fs_inside(&sem), 2));
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert(fs_plainly_too_few(fs_inside(&sem), 1));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
}
END_TEST

START_TEST(after_a_resize_too_few_units_are_too_few)
{
    begin();
    ck_assert_int_eq(fairsem_set_capacity(&sem, 4), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 3), 0);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 2), EAGAIN);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 5), E2BIG);
    ck_assert(fairsem_would_block(&sem, 2) && !fairsem_would_block(&sem, 5));
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/*
 * 4 of 4 units are in use, and the capacity changes to 8, or to 2.  The child has the capacity before or after
 * the change, and in the child, too, 4 units are in use.
 */
START_TEST(a_fork_after_any_store_of_set_capacity_loses_no_units)
{
    const fairsem_attr_t attr = { .capacity = 4 };
    const int64_t capacities[] = { 8, 2 };

    for (int i = 0; i < 2; i++) {
        int at = 1;

        for (; stores_left == 0; at++) {
            ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
            stores_left = at;
            ck_assert_int_eq(fairsem_set_capacity(&sem, capacities[i]), 0);
            ck_assert_int_eq(fairsem_capacity(&sem) - fairsem_available(&sem), 4);
            ck_assert_int_eq(fairsem_destroy(&sem), 0);
        }
        stores_left = 0;
        ck_assert_int_gt(at, 3);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("resize races", too_few_units_are_seen_without_the_mutex_while_the_capacity_is_the_first,
              after_a_resize_too_few_units_are_too_few,
              a_fork_after_any_store_of_set_capacity_loses_no_units);
}
