/* SPDX-License-Identifier: MIT */
/*
 * t_shared_posix_unlink.c - what POSIX demands of sem_close and sem_unlink, and of fork, exec and
 * _exit with a semaphore that is open.
 *
 * t_shared_posix.c explains the comments.
 */
#include "crowd.h"

#include <sys/resource.h>

#define NO_UNDO FAIRSEM_SHARED_NO_UNDO

static fairsem_shared_t *open_own_name(void)
{
    fairsem_shared_t *h;

    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), 0, 0, NULL), 0);
    return h;
}

/* ---- sem_close ---- */

/*
 * sem_close: no effect on the value, which stays until sem_unlink, even while no process has it
 * open.  Differs with undo: the process's units go back, because no other could release them.
 */
START_TEST(the_value_stays_while_no_process_has_it_open)
{
    for (unsigned flags = 0; flags <= NO_UNDO; flags++) {
        fairsem_shared_t *h = make_own_named(5, flags);

        ck_assert_int_eq(fairsem_shared_acquire(h, 2), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
        h = open_own_name();
        ck_assert_int_eq(fairsem_shared_available(h), flags == NO_UNDO ? 3 : 5);
        ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

/* sem_close: frees the resources that sem_open took from the system. */
START_TEST(close_frees_what_open_took)
{
    struct rlimit limit;

    ck_assert_int_eq(fairsem_shared_close(make_own_named(1, 0)), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 30;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int i = 0; i < 1000; i++) {
        fairsem_shared_t *named = open_own_name(), *unnamed = make_segment(1, 0);

        ck_assert_int_eq(fairsem_shared_acquire(named, 1), 0);
        ck_assert_int_eq(fairsem_shared_close(named), 0);
        ck_assert_int_eq(fairsem_shared_close(unnamed), 0);
    }
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
}
END_TEST

/* ---- fork, exec, _exit ---- */

/* fork: semaphores open in the parent are open in the child.  The child closes only its own. */
START_TEST(a_child_inherits_what_is_open_and_closes_only_its_own)
{
    fairsem_shared_t *h = make_own_named(2, 0);
    pid_t child;

    ck_assert_ptr_eq(open_own_name(), h);
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0);
        CHILD_CHECK(fairsem_shared_close(h) == 0);      /* opened twice, closed once */
        CHILD_CHECK(fairsem_shared_available(h) == 0);
        CHILD_CHECK(fairsem_shared_close(h) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

static void end_by(int way)
{
    if (way == 0)
        _exit(0);
    if (way == 1)
        execl("/bin/true", "true", (char *)NULL);
    raise(SIGKILL);
}

/*
 * _exit, exec: as sem_close, so the value stays.  Differs with undo, as sem_close does.  The name
 * stays in any case, and other processes go on.
 */
START_TEST(units_of_an_ended_process_stay_taken_only_without_undo)
{
    for (int i = 0; i < 6; i++) {
        unsigned flags = i % 2 == 0 ? 0 : NO_UNDO;
        fairsem_shared_t *h = make_own_named(3, flags);
        pid_t child;
        int status;

        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        child = fork();
        if (child == 0) {
            CHILD_CHECK(fairsem_shared_acquire(h, 2) == 0);
            end_by(i / 2);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(i / 2 == 2 ? WIFSIGNALED(status) : status == 0);
        ck_assert_int_eq(fairsem_shared_available(h), flags == NO_UNDO ? 0 : 2);
        ck_assert_ptr_eq(open_own_name(), h);
        ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

/* ---- sem_unlink ---- */

/*
 * sem_unlink: removes the name at once, even if others wait.  Processes that have the semaphore
 * open keep it with its value and queue, and it works between them as before.
 */
START_TEST(processes_that_have_it_open_go_on_without_its_name)
{
    _Atomic int *count = share(3 * sizeof *count);
    fairsem_shared_t *h = make_own_named(0, NO_UNDO);
    pid_t waiters[2];

    for (int i = 0; i < 2; i++)
        waiters[i] = queue_placed(h, 2, 0, &count[i], &count[2]);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), ENOENT);
    ck_assert_int_eq(fairsem_shared_waiters(h), 2);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_waiters(h), 2);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(status_of(waiters[i]), 0);
    ck_assert(atomic_load(&count[0]) == 1 && atomic_load(&count[1]) == 2);
    ck_assert_int_eq(fairsem_shared_available(h), 2);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* sem_unlink: a later sem_open of the name finds nothing, or creates another semaphore. */
START_TEST(a_name_that_is_created_again_is_another_semaphore)
{
    fairsem_shared_t *old = make_own_named(1, NO_UNDO), *young, *none;
    pid_t waiter;

    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_open(&none, own_name(), 0, 0, NULL), ENOENT);
    young = make_own_named(0, NO_UNDO);
    ck_assert_ptr_ne(young, old);
    waiter = queue_user(young, 1);
    ck_assert_int_eq(fairsem_shared_release(old, 5), 0);
    ck_assert_int_eq(fairsem_shared_waiters(old), 0);
    ck_assert_int_eq(fairsem_shared_waiters(young), 1);
    ck_assert_int_eq(fairsem_shared_available(young), 0);
    ck_assert_ptr_eq(open_own_name(), young);
    ck_assert_int_eq(fairsem_shared_close(young), 0);
    ck_assert_int_eq(fairsem_shared_release(young, 1), 0);
    ck_assert_int_eq(status_of(waiter), 0);
    ck_assert_int_eq(fairsem_shared_available(old), 6);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(young), 0);
    ck_assert_int_eq(fairsem_shared_close(old), 0);
}
END_TEST

/* sem_unlink: EACCES without permission.  Differs: EPERM, as in a sticky directory of Linux. */
START_TEST(another_user_cannot_remove_the_name)
{
    fairsem_shared_t *h = make_own_named(1, 0);
    pid_t child = fork();
    int status;

    if (child == 0) {
        int error;

        if (geteuid() != 0 || setgid(65534) != 0 || setuid(65534) != 0)
            _exit(SKIPPED);
        error = fairsem_shared_unlink(own_name());
        CHILD_CHECK(error == EPERM || error == EACCES);
        _exit(0);
    }
    status = status_of(child);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    if (status == SKIPPED)
        SKIP_TEST("only root can be another user");
    ck_assert_int_eq(status, 0);
}
END_TEST

static void make_and_remove(const char *name, int rounds)
{
    const fairsem_shared_attr_t attr = { .units = 7, .flags = NO_UNDO };
    fairsem_shared_t *h;

    for (int i = 0; i < rounds; i++) {
        CHILD_CHECK(fairsem_shared_open(&h, name, O_CREAT | O_EXCL, 0600, &attr) == 0);
        CHILD_CHECK(fairsem_shared_unlink(name) == 0);
        CHILD_CHECK(fairsem_shared_close(h) == 0);
    }
    _exit(0);
}

/* sem_open, sem_unlink: at each moment an open finds nothing, or a complete semaphore. */
START_TEST(no_process_finds_half_a_semaphore)
{
    fairsem_shared_t *h;
    pid_t child;
    int status, error;

    (void)own_name();
    child = fork();
    if (child == 0)
        make_and_remove(own_name(), 2000);
    while (waitpid(child, &status, WNOHANG) == 0) {
        error = fairsem_shared_open(&h, own_name(), 0, 0, NULL);
        ck_assert(error == 0 || error == ENOENT);
        if (error == 0) {
            ck_assert_int_eq(fairsem_shared_available(h), 7);
            ck_assert_int_eq(fairsem_shared_close(h), 0);
        }
    }
    ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared POSIX, unlink", the_value_stays_while_no_process_has_it_open,
              close_frees_what_open_took, a_child_inherits_what_is_open_and_closes_only_its_own,
              units_of_an_ended_process_stay_taken_only_without_undo,
              processes_that_have_it_open_go_on_without_its_name,
              a_name_that_is_created_again_is_another_semaphore,
              another_user_cannot_remove_the_name, no_process_finds_half_a_semaphore);
}
