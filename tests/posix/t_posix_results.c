/* SPDX-License-Identifier: MIT */
/*
 * t_posix_results.c - the functions of fairsem/posix.h one by one: types, results and errno are those of glibc.
 */
#include "callers.h"

#include <fcntl.h>
#include <limits.h>

/* The test calls functions that always fail, in spite of the header's warning. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wuser-defined-warnings"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wattribute-warning"
#endif

/* Uses of the names other than calls.  The test is that they compile. */
START_TEST(the_functions_have_the_types_of_posix)
{
    int (*init)(sem_t *, int, unsigned) = sem_init;
    int (*one[])(sem_t *) = { sem_destroy, sem_wait, sem_trywait, sem_post, sem_close };
    int (*timed)(sem_t *restrict, const struct timespec *restrict) = sem_timedwait;
    int (*clocked)(sem_t *restrict, clockid_t, const struct timespec *restrict) = sem_clockwait;
    int (*value)(sem_t *restrict, int *restrict) = sem_getvalue;
    sem_t *(*by_name)(const char *, int, ...) = sem_open;
    int (*by_name_too)(const char *) = sem_unlink;
    struct { sem_t slots; sem_t *pointer; } in_a_struct;

    in_a_struct.pointer = &in_a_struct.slots;
    ck_assert_int_eq(init(in_a_struct.pointer, 0, 1), 0);
    ck_assert_int_eq(one[1](&in_a_struct.slots), 0);
    ck_assert(timed != NULL && clocked != NULL && value != NULL && by_name != NULL
              && by_name_too != NULL);
    ck_assert_int_eq(one[0](&in_a_struct.slots), 0);
}
END_TEST

START_TEST(success_returns_0_and_leaves_errno_alone)
{
    struct timespec deadline = far_away(TIMEDWAIT);
    struct caller c = { 0 };
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 4));
    ck_assert_works(sem_wait(&sem));
    ck_assert_works(sem_trywait(&sem));
    ck_assert_works(sem_timedwait(&sem, &deadline));
    ck_assert_works(sem_clockwait(&sem, CLOCK_REALTIME, &deadline));
    ck_assert_int_eq(value_of(&sem), 0);
    ck_assert_works(sem_post(&sem));
    ck_assert_int_eq(value_of(&sem), 1);
    ck_assert_works(sem_wait(&sem));
    caller_queue(&c, &sem, WAIT, 1);
    ck_assert_works(sem_destroy(&sem));     /* fairsem_destroy() would return EBUSY */
    ck_assert_works(sem_post(&sem));        /* this post wakes a thread */
    ck_assert_int_eq(caller_join(&c), 0);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

START_TEST(a_value_above_the_largest_is_refused_whatever_pshared_says)
{
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, SEM_VALUE_MAX));
    ck_assert_int_eq(value_of(&sem), SEM_VALUE_MAX);
    ck_assert_works(sem_destroy(&sem));
    ck_assert_fails(sem_init(&sem, 0, SEM_VALUE_MAX + 1u), EINVAL);
    ck_assert_fails(sem_init(&sem, 0, UINT_MAX), EINVAL);
    ck_assert_fails(sem_init(&sem, 1, SEM_VALUE_MAX + 1u), EINVAL);
}
END_TEST

START_TEST(semaphores_for_several_processes_fail_with_enosys)
{
    sem_t sem;

    ck_assert_fails(sem_init(&sem, 1, 0), ENOSYS);
    ck_assert_fails(sem_init(&sem, -1, SEM_VALUE_MAX), ENOSYS);
    errno = 0;
    ck_assert(sem_open("/fairsem-posix-test", O_CREAT, 0600, 1) == SEM_FAILED);
    ck_assert_int_eq(errno, ENOSYS);
    ck_assert_works(sem_init(&sem, 0, 0));
    ck_assert_fails(sem_close(&sem), ENOSYS);
    ck_assert_fails(sem_unlink("/fairsem-posix-test"), ENOSYS);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

START_TEST(a_post_beyond_the_largest_value_fails_and_changes_nothing)
{
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, SEM_VALUE_MAX - 1));
    ck_assert_works(sem_post(&sem));
    ck_assert_fails(sem_post(&sem), EOVERFLOW);
    ck_assert_int_eq(value_of(&sem), SEM_VALUE_MAX);
    ck_assert_works(sem_wait(&sem));
    ck_assert_works(sem_post(&sem));
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

/* Deadlines long ago, before the epoch, and a moment ago. */
START_TEST(a_deadline_in_the_past_fails_with_etimedout_unless_a_unit_is_free)
{
    const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC };
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    for (int i = 0; i < 2; i++) {
        const struct timespec deadlines[] = {
            { 0, 0 }, { -1, 0 }, { -1, 999999999 }, { INT32_MIN, 0 }, from_now(clocks[i], -1),
        };

        for (size_t k = 0; k < sizeof deadlines / sizeof deadlines[0]; k++) {
            ck_assert_fails(sem_clockwait(&sem, clocks[i], &deadlines[k]), ETIMEDOUT);
            ck_assert_works(sem_post(&sem));
            ck_assert_works(sem_clockwait(&sem, clocks[i], &deadlines[k]));
            if (clocks[i] == CLOCK_REALTIME) {
                ck_assert_fails(sem_timedwait(&sem, &deadlines[k]), ETIMEDOUT);
                ck_assert_works(sem_post(&sem));
                ck_assert_works(sem_timedwait(&sem, &deadlines[k]));
            }
        }
    }
    ck_assert_int_eq(value_of(&sem), 0);
    ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 0);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

static int64_t ms_since(clockid_t clock, const struct timespec *start)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)(now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
}

START_TEST(a_deadline_to_come_fails_with_etimedout_when_it_has_passed)
{
    struct timespec start = from_now(CLOCK_MONOTONIC, 0);
    struct timespec monotonic = from_now(CLOCK_MONOTONIC, 30), realtime;
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    ck_assert_fails(sem_clockwait(&sem, CLOCK_MONOTONIC, &monotonic), ETIMEDOUT);
    ck_assert_int_ge(ms_since(CLOCK_MONOTONIC, &start), 30);
    realtime = from_now(CLOCK_REALTIME, 30);
    ck_assert_fails(sem_timedwait(&sem, &realtime), ETIMEDOUT);
    ck_assert_int_ge(ms_since(CLOCK_REALTIME, &realtime), 0);
    realtime = from_now(CLOCK_REALTIME, 30);
    ck_assert_fails(sem_clockwait(&sem, CLOCK_REALTIME, &realtime), ETIMEDOUT);
    ck_assert_int_ge(ms_since(CLOCK_REALTIME, &realtime), 0);
    ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 0);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

/* glibc checks the arguments first, so a free unit must stay free. */
START_TEST(an_invalid_deadline_fails_with_einval_even_if_a_unit_is_free)
{
    const long nanoseconds[] = { -1, 1000000000, LONG_MIN, LONG_MAX };
    const clockid_t clocks[] = { CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, -1, 4711 };
    struct timespec good = far_away(CLOCKWAIT);
    sem_t sem;

    for (unsigned units = 0; units < 2; units++) {
        ck_assert_works(sem_init(&sem, 0, units));
        for (int i = 0; i < 4; i++) {
            struct timespec bad = { .tv_sec = good.tv_sec, .tv_nsec = nanoseconds[i] };

            ck_assert_fails(sem_timedwait(&sem, &bad), EINVAL);
            ck_assert_fails(sem_clockwait(&sem, CLOCK_REALTIME, &bad), EINVAL);
            ck_assert_fails(sem_clockwait(&sem, CLOCK_MONOTONIC, &bad), EINVAL);
            bad.tv_sec = -1;
            ck_assert_fails(sem_timedwait(&sem, &bad), EINVAL);
            ck_assert_fails(sem_clockwait(&sem, clocks[i], &good), EINVAL);
        }
        ck_assert_int_eq(value_of(&sem), (int)units);
        ck_assert_works(sem_destroy(&sem));
    }
}
END_TEST

START_TEST(a_system_without_futexes_has_no_sem_t)
{
    sem_t sem;

    if (HAS_SEM_T)
        ck_assert_works(sem_init(&sem, 0, 0));
    else
        ck_assert_fails(sem_init(&sem, 0, 0), ENOSYS);
}
END_TEST

int main(void)
{
    if (!HAS_SEM_T)
        RUN_SUITE("posix results", a_system_without_futexes_has_no_sem_t);
    RUN_SUITE("posix results", a_system_without_futexes_has_no_sem_t,
              the_functions_have_the_types_of_posix, success_returns_0_and_leaves_errno_alone,
              a_value_above_the_largest_is_refused_whatever_pshared_says,
              semaphores_for_several_processes_fail_with_enosys,
              a_post_beyond_the_largest_value_fails_and_changes_nothing,
              a_deadline_in_the_past_fails_with_etimedout_unless_a_unit_is_free,
              a_deadline_to_come_fails_with_etimedout_when_it_has_passed,
              an_invalid_deadline_fails_with_einval_even_if_a_unit_is_free);
}
