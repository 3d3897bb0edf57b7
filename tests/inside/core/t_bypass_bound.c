/* SPDX-License-Identifier: MIT */
/* t_bypass_bound.c - how long a waiter may be passed: attr.bypass_ns from when it joined. */
#include "clockwork.h"

#define LOOK  16
#define BOUND 1000000

static int passed[PLANNED];

/* The head sleeps.  Before the bound it is woken to claim the unit, which another thread takes. */
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

int main(void)
{
    RUN_SUITE("bypass bound", a_waiter_may_be_passed_until_the_bound_and_not_after_it);
}
