/* SPDX-License-Identifier: MIT */
/* t_shared_lock.c - the lock of a segment: who gets it next, and which calls need it. */
#include "crowd.h"

#include "shared/attach.h"
#include "system/deadline.h"
#include "workers.h"

#define ORDERED   (1u << 29)
#define CONTENDED (1u << 31)

static int64_t ms_since(int64_t start_ns)
{
    return (fs_now_ns() - start_ns) / 1000000;
}

/* A thread that was woken for its turn died before it took the lock. */
START_TEST(the_turn_of_a_dead_thread_is_over_after_a_while)
{
    fairsem_shared_t *h = make_segment(1, 0);

    for (int i = 0; i < 3; i++) {
        int64_t start = fs_now_ns();

        FS_PUT(&h->segment->lock, ORDERED | CONTENDED);
        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        ck_assert_int_ge(ms_since(start), 5);       /* it might have lived */
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    }
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* In a long queue a waiter sleeps for seconds, but not beyond its deadline. */
START_TEST(the_rest_of_a_deadline_has_any_limit)
{
    const int64_t s = 1000000000;
    const struct fs_deadline soon = fs_deadline_after(2 * s), never = fs_deadline_after(INT64_MAX);

    ck_assert_int_le(fs_deadline_rest(&soon, 20 * s), 2 * s);
    ck_assert_int_eq(fs_deadline_rest(&never, 20 * s), 20 * s);
}
END_TEST

/* However often it has slept for the lock, and found its owner alive. */
START_TEST(a_lock_that_is_held_is_waited_for_until_the_deadline)
{
    fairsem_shared_t *h = make_segment(1, 0);
    const struct fs_deadline deadline = fs_deadline_after(100000000);
    struct fs_shared_section in;
    int dead;

    ck_assert_int_eq(fs_shared_enter(&in, h, FS_LOCK_WAIT, NULL), 0);
    ck_assert_int_eq(fs_shared_lock(h, FS_LOCK_WAIT, &deadline, &dead), ETIMEDOUT);
    ck_assert_int_eq(fs_deadline_rest(&deadline, 1), 0);
    ck_assert_int_eq(fs_shared_section_end(&in), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

#define ROUNDS 10

/* A child that gives a unit back in each round. */
static pid_t fork_giver(fairsem_shared_t *h, _Atomic int *ready, _Atomic int *round)
{
    pid_t child = fork();

    if (child == 0) {
        CHILD_CHECK(fairsem_shared_acquire(h, ROUNDS) == 0);
        for (int i = 1; i <= ROUNDS; i++) {
            atomic_store(ready, i);
            await_flag(round, i);
            CHILD_CHECK(fairsem_shared_release(h, 1) == 0);
        }
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    return child;
}

/* Return when the child sleeps, and the owner is to wake it for its turn. */
static void await_ordered(fairsem_shared_t *h, pid_t child)
{
    while ((FS_GET(&h->segment->lock) & ORDERED) == 0 || !sleeps(child))
        nap(1);
}

/*
 * This process gives the lock back and takes it again.  Between the two comes the child, which has
 * waited for long and sleeps.  (Its sleep may end by itself just then, so that it is passed.)
 */
START_TEST(whoever_has_waited_long_for_the_lock_has_it_next)
{
    _Atomic int *flags = share(2 * sizeof *flags);
    fairsem_shared_t *h = make_segment(ROUNDS, 0);
    pid_t child = fork_giver(h, &flags[0], &flags[1]);
    struct fs_shared_section in;
    int in_order = 0;

    for (int i = 1; i <= ROUNDS; i++) {
        int64_t before;

        await_flag(&flags[0], i);
        ck_assert_int_eq(fs_shared_enter(&in, h, FS_LOCK_WAIT, NULL), 0);
        before = FS_GET(&h->segment->outstanding);
        atomic_store(&flags[1], i);
        await_ordered(h, child);
        /* As if a third had taken a free lock meanwhile. */
        atomic_fetch_and(&h->segment->lock, ~ORDERED);
        await_ordered(h, child);
        ck_assert_int_eq(fs_shared_section_end(&in), 0);
        ck_assert_int_eq(fs_shared_enter(&in, h, FS_LOCK_WAIT, NULL), 0);
        in_order += FS_GET(&h->segment->outstanding) < before;
        ck_assert_int_eq(fs_shared_section_end(&in), 0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_gt(in_order, ROUNDS / 2);
    ck_assert_int_eq(FS_GET(&h->segment->lock), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* It is its own process that is alive, not the one that had the entry before. */
START_TEST(who_has_the_entry_of_a_dead_owner_gets_the_lock)
{
    fairsem_shared_t *h = make_small_segment(1, 0, 1, 2);
    struct fs_shared_section in;

    for (int i = 0; i < 2; i++) {
        pid_t child = fork();

        if (child == 0) {
            CHILD_CHECK(fs_shared_enter(&in, h, FS_LOCK_WAIT, NULL) == 0);
            _exit(0);
        }
        ck_assert_int_eq(status_of(child), 0);
    }
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

static _Atomic int steps;

static void count_step(const char *what)
{
    (void)what;
    atomic_fetch_add(&steps, 1);
}

/* So those that try again and again do not keep others from the lock. */
START_TEST(a_refusal_right_after_a_check_needs_no_lock)
{
    fairsem_shared_t *h = make_segment(1, 0);
    int without = 0;

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    while (without == 0) {      /* until two are within 10 ms */
        ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);
        atomic_store(&steps, 0);
        fs_shared_step = count_step;
        ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);
        fs_shared_step = NULL;
        without += atomic_load(&steps) == 0;
        ck_assert_int_eq(fairsem_shared_tryacquire(h, 2), E2BIG);
    }
    ck_assert_int_eq(without, 1);
    fs_shared_step = count_step;
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    fs_shared_step = NULL;
    ck_assert_int_gt(atomic_load(&steps), 0);       /* steps can be seen */
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared lock", the_turn_of_a_dead_thread_is_over_after_a_while,
              the_rest_of_a_deadline_has_any_limit,
              a_lock_that_is_held_is_waited_for_until_the_deadline,
              whoever_has_waited_long_for_the_lock_has_it_next,
              who_has_the_entry_of_a_dead_owner_gets_the_lock,
              a_refusal_right_after_a_check_needs_no_lock);
}
