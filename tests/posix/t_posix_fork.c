/* SPDX-License-Identifier: MIT */
/*
 * t_posix_fork.c - a sem_t in the child of a process whose threads wait for it or are in a call.
 */
#include "callers.h"
#include "stress.h"
#include "children.h"

#include <stdio.h>
#include <unistd.h>

static void use_in_child(sem_t *sem, int least, int most)
{
    struct timespec soon = from_now(CLOCK_REALTIME, 1);
    int value = -1;

    CHILD_CHECK(sem_getvalue(sem, &value) == 0 && value >= least && value <= most);
    for (int i = 0; i < value; i++)
        CHILD_CHECK(sem_wait(sem) == 0);
    CHILD_CHECK(sem_trywait(sem) == -1 && errno == EAGAIN);
    CHILD_CHECK(sem_timedwait(sem, &soon) == -1 && errno == ETIMEDOUT);
    CHILD_CHECK(sem_post(sem) == 0);    /* the parent's waiters do not exist here */
    CHILD_CHECK(sem_getvalue(sem, &value) == 0 && value == 1);
    if (!UNDER_ASAN) {                  /* its allocator does not survive such a fork */
        struct caller c = { 0 };

        CHILD_CHECK(sem_wait(sem) == 0);
        caller_queue(&c, sem, WAIT, 1);
        CHILD_CHECK(sem_post(sem) == 0);
        CHILD_CHECK(caller_join(&c) == 0);
    }
    CHILD_CHECK(sem_destroy(sem) == 0);
    _exit(0);
}

START_TEST(the_child_of_a_process_whose_threads_wait_has_a_semaphore_that_works)
{
    struct caller c[3] = { { 0 } };
    pid_t child;
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    for (int i = 0; i < 3; i++)
        caller_queue(&c[i], &sem, (enum how)i, i + 1);
    child = fork();
    if (child == 0)
        use_in_child(&sem, 0, 0);
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_works(sem_post(&sem));
        ck_assert_int_eq(caller_join(&c[i]), 0);
    }
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

START_TEST(a_fork_at_any_moment_leaves_the_child_a_semaphore_that_works)
{
    pthread_t thread[3];
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 2));
    for (int i = 0; i < 3; i++)
        start_thread(&thread[i], take_and_give, &sem);
    for (int i = 0; i < stress_times(50); i++) {
        pid_t child = fork();

        if (child == 0)
            use_in_child(&sem, 0, 2);
        ck_assert_int_eq(status_of(child), 0);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(value_of(&sem), 2);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

int main(void)
{
    if (has_no_sem_t())
        return SKIPPED;
    if (UNDER_TSAN)
        return program_not_here("ThreadSanitizer does not follow a fork of a threaded process");
    RUN_SUITE("posix fork", the_child_of_a_process_whose_threads_wait_has_a_semaphore_that_works,
              a_fork_at_any_moment_leaves_the_child_a_semaphore_that_works);
}
