/* SPDX-License-Identifier: MIT */
/*
 * t_shared_posix.c - what POSIX demands of semaphores between processes: sem_init, sem_destroy and
 * memory.
 *
 * The comment above each test names the clause that it checks.  "Differs" says where fairsem does
 * something else by design, and why.  In POSIX, units belong to no process, so most segments here
 * are without undo.  t_shared_posix_wait.c is about waiting, t_shared_posix_post.c about posting
 * and the value, t_shared_posix_open.c and t_shared_posix_unlink.c about names.
 *
 * Two things have no counterpart.  EINVAL for an invalid semaphore: a handle is a pointer, and
 * t_shared_damage.c is about damaged segments.  sem_post in a signal handler: no function of
 * shared.h may be called there, because most of them take a lock.
 */
#include "crowd.h"

#include "workers.h"

#define NO_UNDO FAIRSEM_SHARED_NO_UNDO

/* ---- sem_init, sem_destroy ---- */

/* sem_init: the semaphore has the given value.  It can be locked that many times, and no more. */
START_TEST(a_new_semaphore_has_the_value_that_it_was_given)
{
    static const int64_t values[] = { 0, 1, 7, 32767, FAIRSEM_MAX_UNITS };

    for (unsigned flags = 0; flags <= NO_UNDO; flags++) {
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            fairsem_shared_t *h = make_segment(values[i], flags);

            ck_assert_int_eq(fairsem_shared_available(h), values[i]);
            for (int64_t n = 0; n < values[i] && n < 1000; n++)
                ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), 0);
            if (values[i] < 1000)
                ck_assert_int_ne(fairsem_shared_tryacquire(h, 1), 0);
            ck_assert_int_eq(fairsem_shared_close(h), 0);
        }
    }
}
END_TEST

/*
 * sem_init: EINVAL if the value is above {SEM_VALUE_MAX}.  Differs: values are signed, and negative
 * ones are refused, too.
 */
START_TEST(a_value_out_of_range_is_refused)
{
    static const int64_t values[] = { FAIRSEM_MAX_UNITS + 1, INT64_MAX, -1, INT64_MIN };

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const fairsem_shared_attr_t attr = { .units = values[i], .flags = NO_UNDO };
        fairsem_shared_t *h;

        ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &attr), EINVAL);
    }
}
END_TEST

/*
 * sem_init, pshared != 0: any process that can access the semaphore may use it.  Here a child and a
 * grandchild use it, and each sees what the others have done.
 */
START_TEST(children_and_grandchildren_use_the_same_semaphore)
{
    fairsem_shared_t *h = make_segment(5, NO_UNDO);
    pid_t child;

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    child = fork();
    if (child == 0) {
        pid_t grandchild;
        int status;

        CHILD_CHECK(fairsem_shared_available(h) == 4);
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0);
        grandchild = fork();
        if (grandchild == 0) {
            CHILD_CHECK(fairsem_shared_available(h) == 3);
            CHILD_CHECK(fairsem_shared_release(h, 7) == 0);
            _exit(0);
        }
        CHILD_CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
        CHILD_CHECK(fairsem_shared_available(h) == 10);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 10);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* sem_init: {SEM_NSEMS_MAX} is at least 256.  A release on one changes no other. */
START_TEST(a_process_can_have_256_semaphores)
{
    fairsem_shared_t *h[256];

    for (int i = 0; i < 256; i++)
        h[i] = make_small_segment(i, NO_UNDO, 1, 1);
    for (int i = 0; i < 256; i += 2)
        ck_assert_int_eq(fairsem_shared_release(h[i], 1000), 0);
    for (int i = 0; i < 256; i++) {
        ck_assert_int_eq(fairsem_shared_available(h[i]), i % 2 == 0 ? i + 1000 : i);
        ck_assert_int_eq(fairsem_shared_close(h[i]), 0);
    }
}
END_TEST

struct asker {
    fairsem_shared_t *h;
    int               result;
};

static void *ask(void *arg)
{
    struct asker *a = arg;

    a->result = fairsem_shared_acquire(a->h, 1);
    return NULL;
}

/* sem_destroy: EBUSY while threads are blocked on it.  It may fail then; here it always does. */
START_TEST(a_handle_with_a_waiting_thread_cannot_be_closed)
{
    struct asker asker = { .h = make_segment(0, NO_UNDO), .result = -1 };
    pthread_t thread;

    start_thread(&thread, ask, &asker);
    await_queue(asker.h, 1);
    ck_assert_int_eq(fairsem_shared_close(asker.h), EBUSY);
    ck_assert_int_eq(fairsem_shared_waiters(asker.h), 1);
    ck_assert_int_eq(fairsem_shared_release(asker.h, 1), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(asker.result, 0);
    ck_assert_int_eq(fairsem_shared_close(asker.h), 0);
}
END_TEST

/*
 * sem_destroy: undefined while others are blocked on it.  Differs: a process closes only its own
 * handle, and the segment exists as long as any process has it open.
 */
START_TEST(other_processes_use_it_after_one_has_closed_it)
{
    _Atomic int *closed = share(sizeof *closed);
    fairsem_shared_t *h = make_segment(0, NO_UNDO);
    pid_t waiter = queue_user(h, 1), poster;

    poster = fork();
    if (poster == 0) {
        await_flag(closed, 1);
        CHILD_CHECK(fairsem_shared_waiters(h) == 1);
        CHILD_CHECK(fairsem_shared_release(h, 1) == 0);
        _exit(0);
    }
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    atomic_store(closed, 1);
    ck_assert_int_eq(status_of(poster), 0);
    ck_assert_int_eq(status_of(waiter), 0);
}
END_TEST

/* ---- Memory ---- */

#define RING 8
#define LAPS 300

static void take_turns(fairsem_shared_t *const *h, int self, int *turn)
{
    for (int lap = 0; lap < LAPS; lap++) {
        CHILD_CHECK(fairsem_shared_acquire(h[self], 1) == 0);
        CHILD_CHECK(*turn == lap * RING + self);
        *turn += 1;
        CHILD_CHECK(fairsem_shared_release(h[(self + 1) % RING], 1) == 0);
    }
    _exit(0);
}

/*
 * sem_wait and sem_post synchronize memory (XBD 4.12).  Eight processes take turns, and each sees
 * what the one before it has written, which is not atomic.
 */
START_TEST(processes_in_lock_step_see_what_the_others_wrote)
{
    int *turn = share(sizeof *turn);
    fairsem_shared_t *h[RING];
    pid_t children[RING];

    for (int i = 0; i < RING; i++)
        h[i] = make_segment(0, NO_UNDO);
    for (int i = 0; i < RING; i++) {
        children[i] = fork();
        if (children[i] == 0)
            take_turns(h, i, turn);
    }
    ck_assert_int_eq(fairsem_shared_release(h[0], 1), 0);
    for (int i = 0; i < RING; i++)
        ck_assert_int_eq(status_of(children[i]), 0);
    ck_assert_int_eq(*turn, RING * LAPS);
    for (int i = 0; i < RING; i++) {
        ck_assert_int_eq(fairsem_shared_available(h[i]), i == 0 ? 1 : 0);
        ck_assert_int_eq(fairsem_shared_close(h[i]), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("shared POSIX", a_new_semaphore_has_the_value_that_it_was_given,
              a_value_out_of_range_is_refused, children_and_grandchildren_use_the_same_semaphore,
              a_process_can_have_256_semaphores, a_handle_with_a_waiting_thread_cannot_be_closed,
              other_processes_use_it_after_one_has_closed_it,
              processes_in_lock_step_see_what_the_others_wrote);
}
