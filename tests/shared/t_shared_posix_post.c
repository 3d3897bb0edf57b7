/* SPDX-License-Identifier: MIT */
/*
 * t_shared_posix_post.c - what POSIX demands of sem_post and sem_getvalue between processes.
 *
 * t_shared_posix.c explains the comments.
 */
#include "crowd.h"

#include <sched.h>

#define NO_UNDO FAIRSEM_SHARED_NO_UNDO

/* ---- sem_post ---- */

/* sem_post: adds one to the value while no thread is blocked.  Differs: may add n at once. */
START_TEST(a_post_adds_what_it_says)
{
    fairsem_shared_t *h = make_segment(0, NO_UNDO);

    for (int i = 1; i <= 100; i++) {
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
        ck_assert_int_eq(fairsem_shared_available(h), i);
    }
    ck_assert_int_eq(fairsem_shared_release(h, 11), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 111);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* A child that takes one unit, adds one to *taken, and ends. */
static pid_t fork_taker(fairsem_shared_t *h, int priority, _Atomic int *taken)
{
    pid_t child = fork();

    if (child == 0) {
        const fairsem_wait_t how = { .priority = priority };

        CHILD_CHECK(fairsem_shared_acquire_with(h, 1, &how) == 0);
        atomic_fetch_add(taken, 1);
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    return child;
}

/* sem_post: if the value is 0 afterwards, one of the blocked threads has been let through. */
START_TEST(a_post_lets_exactly_one_waiter_through)
{
    _Atomic int *taken = share(sizeof *taken);
    fairsem_shared_t *h = make_segment(0, NO_UNDO);
    pid_t takers[4];

    for (int i = 0; i < 4; i++)
        takers[i] = fork_taker(h, 0, taken);
    await_queue(h, 4);
    for (int i = 1; i <= 4; i++) {
        ck_assert_int_eq(atomic_load(taken), i - 1);
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
        ck_assert_int_eq(fairsem_shared_waiters(h), 4 - i);
        ck_assert_int_eq(fairsem_shared_available(h), 0);
        await_flag(taken, i);
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(status_of(takers[i]), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/*
 * sem_post: the scheduling policy chooses among the blocked threads; with SCHED_FIFO the highest
 * priority, then the longest wait.  Differs: the policy never counts, because it may differ between
 * processes.  The priority of the request counts, then the longest wait.
 */
START_TEST(the_longest_wait_counts_and_not_the_scheduling_policy)
{
    const struct sched_param real_time = { .sched_priority = 1 };
    _Atomic int *taken = share(sizeof *taken);
    fairsem_shared_t *h = make_segment(0, NO_UNDO);
    fairsem_shared_user_t users[3];
    pid_t takers[3];
    int count = 3;

    for (int i = 0; i < 3; i++) {
        takers[i] = fork_taker(h, i == 2 ? -1 : 0, taken);
        await_queue(h, i + 1);
    }
    /* Not every user may do this.  Without that, only the order is checked. */
    (void)sched_setscheduler(takers[1], SCHED_FIFO, &real_time);
    for (int i = 0; i < 3; i++) {
        static const int order[] = { 2, 0, 1 };

        ck_assert_int_eq(fairsem_shared_users(h, users, &count), 0);
        ck_assert_int_eq(count, 3 - i);
        ck_assert_int_eq(users[0].pid, takers[order[i]]);
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
        ck_assert_int_eq(status_of(takers[order[i]]), 0);
    }
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/*
 * sem_post: EOVERFLOW above {SEM_VALUE_MAX}.  Differs: a semaphore may have a maximum of its own,
 * for instance the size of a buffer.
 */
START_TEST(a_post_above_the_maximum_is_refused_and_changes_nothing)
{
    const fairsem_shared_attr_t at_most_two = { .units = 1, .capacity = 2, .flags = NO_UNDO };
    fairsem_shared_t *h = make_segment(FAIRSEM_MAX_UNITS - 1, NO_UNDO);

    for (int i = 0; i < 2; i++) {
        int64_t most = i == 0 ? FAIRSEM_MAX_UNITS : 2;

        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
        ck_assert_int_eq(fairsem_shared_release(h, 1), EOVERFLOW);
        ck_assert_int_eq(fairsem_shared_available(h), most);
        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
        if (i == 0)
            ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &at_most_two), 0);
    }
}
END_TEST

/*
 * sem_post: any process may post, even a unit that another one has locked.  Differs with undo:
 * EPERM, because the unit would come back a second time when its holder ends.
 */
START_TEST(a_process_posts_what_another_has_locked_only_without_undo)
{
    for (unsigned flags = 0; flags <= NO_UNDO; flags++) {
        fairsem_shared_t *h = make_segment(1, flags);
        pid_t child;

        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        child = fork();
        if (child == 0) {
            CHILD_CHECK(fairsem_shared_release(h, 1) == (flags == NO_UNDO ? 0 : EPERM));
            _exit(0);
        }
        ck_assert_int_eq(status_of(child), 0);
        ck_assert_int_eq(fairsem_shared_available(h), flags == NO_UNDO ? 1 : 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

/* ---- sem_getvalue ---- */

/*
 * sem_getvalue: while the semaphore is locked, 0 or minus the number of waiters.  Differs: never
 * less than 0; fairsem_shared_waiters returns the number of waiters.  Asking changes nothing.
 */
START_TEST(the_value_is_never_negative_and_waiters_have_their_own_count)
{
    _Atomic int *taken = share(sizeof *taken);
    fairsem_shared_t *h = make_segment(0, NO_UNDO);
    pid_t takers[3];

    for (int i = 0; i < 3; i++) {
        takers[i] = fork_taker(h, 0, taken);
        await_queue(h, i + 1);
        ck_assert_int_eq(fairsem_shared_available(h), 0);
    }
    ck_assert_int_eq(fairsem_shared_release(h, 5), 0);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(fairsem_shared_available(h), 2);
        ck_assert_int_eq(fairsem_shared_waiters(h), 0);
    }
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(status_of(takers[i]), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* A child that changes the value by two until *stop; it adds one to *begun after its first turn. */
static pid_t fork_changer(fairsem_shared_t *h, _Atomic int *begun, _Atomic int *stop)
{
    pid_t child = fork();

    if (child == 0) {
        for (int i = 0; atomic_load(stop) == 0; i++) {
            CHILD_CHECK(fairsem_shared_acquire(h, 2) == 0);
            CHILD_CHECK(fairsem_shared_release(h, 2) == 0);
            if (i == 0)
                atomic_fetch_add(begun, 1);
        }
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    return child;
}

/*
 * sem_getvalue: a value that the semaphore had at some moment during the call.  Three processes
 * change it by two at a time, so it is never odd.  With four units they also wait, with six never.
 */
START_TEST(the_value_is_one_that_it_had_during_the_call)
{
    for (int i = 0; i < 4; i++) {
        const int64_t units = i < 2 ? 4 : 6;
        _Atomic int *flags = share(2 * sizeof *flags);
        fairsem_shared_t *h = make_segment(units, i % 2 == 0 ? 0 : NO_UNDO);
        pid_t children[3];

        for (int k = 0; k < 3; k++)
            children[k] = fork_changer(h, &flags[0], &flags[1]);
        await_flag(&flags[0], 3);
        for (int n = 0; n < 4000; n++) {
            int64_t value = fairsem_shared_available(h);

            ck_assert(value >= 0 && value <= units && value % 2 == 0);
        }
        atomic_store(&flags[1], 1);
        for (int k = 0; k < 3; k++)
            ck_assert_int_eq(status_of(children[k]), 0);
        ck_assert_int_eq(fairsem_shared_available(h), units);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("shared POSIX, post", a_post_adds_what_it_says,
              a_post_lets_exactly_one_waiter_through,
              the_longest_wait_counts_and_not_the_scheduling_policy,
              a_post_above_the_maximum_is_refused_and_changes_nothing,
              a_process_posts_what_another_has_locked_only_without_undo,
              the_value_is_never_negative_and_waiters_have_their_own_count,
              the_value_is_one_that_it_had_during_the_call);
}
