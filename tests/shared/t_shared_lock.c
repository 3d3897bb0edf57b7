/* SPDX-License-Identifier: MIT */
/* t_shared_lock.c - the lock of a segment: its order, and the calls that need it. */
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

START_TEST(a_lock_handed_over_to_a_dead_thread_is_taken_by_another)
{
    fairsem_shared_t *h = make_segment(1, 0);

    for (int i = 0; i < 3; i++) {
        int64_t start = fs_now_ns();

        FS_PUT(&h->segment->lock, ORDERED | CONTENDED);
        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        ck_assert_int_ge(ms_since(start), 5);       /* a live thread would have had time to take the lock */
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

/* Wait until the child waits in order: it sleeps until the lock is handed over (lock.h). */
static void await_ordered(fairsem_shared_t *h, pid_t child)
{
    while ((FS_GET(&h->segment->lock) & ORDERED) == 0 || !sleeps(child))
        nap(1);
}

/*
 * This process unlocks and locks again.  The child, which waits in order, gets the lock in between.  (A sleep
 * of the child may time out at that moment, so more than half of the rounds are enough.)
 */
START_TEST(a_thread_that_has_waited_long_gets_the_lock_next)
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
        /* Clear ORDERED, as if a third process had taken the free lock.  The child sets ORDERED again. */
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

/* A live process in the entry of a dead one must not make the dead owner of the lock seem alive. */
START_TEST(a_process_in_the_entry_of_a_dead_owner_gets_the_lock)
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

/* If a refusal took the lock, processes that poll would keep the lock from other processes. */
START_TEST(a_refusal_right_after_a_check_needs_no_lock)
{
    fairsem_shared_t *h = make_segment(1, 0);
    int without = 0;

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    while (without == 0) {      /* until two refusals are within 10 ms */
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
    ck_assert_int_gt(atomic_load(&steps), 0);       /* count_step() works: a release takes the lock */
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared lock", a_lock_handed_over_to_a_dead_thread_is_taken_by_another,
              the_rest_of_a_deadline_has_any_limit,
              a_lock_that_is_held_is_waited_for_until_the_deadline,
              a_thread_that_has_waited_long_gets_the_lock_next,
              a_process_in_the_entry_of_a_dead_owner_gets_the_lock,
              a_refusal_right_after_a_check_needs_no_lock);
}
