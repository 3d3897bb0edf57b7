/* SPDX-License-Identifier: MIT */
/*
 * t_shared_posix_open.c - what POSIX demands of sem_open, sem_close and sem_unlink, and of exec and
 * _exit with a semaphore that is open.
 *
 * t_shared_posix.c explains the comments.  t_shared_open.c tests what happens when the system has
 * no memory or no descriptors left.
 */
#include "crowd.h"

#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define NO_UNDO FAIRSEM_SHARED_NO_UNDO

static const fairsem_shared_attr_t four = { .units = 4, .flags = NO_UNDO };

static int open_error(int oflag, const fairsem_shared_attr_t *attr)
{
    fairsem_shared_t *h;

    return fairsem_shared_open(&h, own_name(), oflag, 0600, attr);
}

/* ---- sem_open ---- */

/* sem_open: any process may connect to the name.  The child of this test exists before the semaphore does. */
START_TEST(a_process_that_has_inherited_nothing_finds_the_semaphore_by_name)
{
    _Atomic int *step = share(sizeof *step);
    fairsem_shared_t *h;
    pid_t stranger;

    (void)own_name();
    stranger = fork();
    if (stranger == 0) {
        await_flag(step, 1);
        CHILD_CHECK(fairsem_shared_open(&h, own_name(), 0, 0, NULL) == 0);
        CHILD_CHECK(fairsem_shared_available(h) == 3);
        CHILD_CHECK(fairsem_shared_acquire(h, 3) == 0);
        atomic_store(step, 2);
        CHILD_CHECK(fairsem_shared_acquire(h, 2) == 0);
        CHILD_CHECK(fairsem_shared_close(h) == 0);
        _exit(0);
    }
    h = make_own_named(4, NO_UNDO);
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    atomic_store(step, 1);
    await_flag(step, 2);
    await_queue(h, 1);
    ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);
    ck_assert_int_eq(fairsem_shared_release(h, 2), 0);
    ck_assert_int_eq(status_of(stranger), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 0);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/*
 * sem_open: if the semaphore exists, O_CREAT changes neither value nor mode.  Differs: attr.flags
 * must be the same: a process that relies on undo would lose units in a segment without undo.
 */
START_TEST(a_semaphore_that_exists_is_not_changed_by_o_creat)
{
    const fairsem_shared_attr_t nine = { .units = 9, .flags = NO_UNDO };
    const fairsem_shared_attr_t with_undo = { .units = 4 };
    fairsem_shared_t *h;

    for (int is_open = 0; is_open < 2; is_open++) {
        fairsem_shared_t *first = make_own_named(4, NO_UNDO);

        ck_assert_int_eq(fairsem_shared_acquire(first, 1), 0);
        if (!is_open)
            ck_assert_int_eq(fairsem_shared_close(first), 0);
        ck_assert_int_eq(open_error(O_CREAT, &with_undo), EINVAL);
        ck_assert_int_eq(fairsem_shared_open(&h, own_name(), O_CREAT, 0666, &nine), 0);
        ck_assert_int_eq(fairsem_shared_available(h), 3);
        ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
        if (is_open)
            ck_assert_int_eq(fairsem_shared_close(first), 0);
    }
}
END_TEST

#define RIVALS 8

static void compete(const char *name, _Atomic int *go, _Atomic int *made)
{
    fairsem_shared_t *h;
    int error;

    await_flag(go, 1);
    error = fairsem_shared_open(&h, name, O_CREAT | O_EXCL, 0600, &four);
    CHILD_CHECK(error == 0 || error == EEXIST);
    if (error == 0)
        atomic_fetch_add(made, 1);
    _exit(0);
}

/* sem_open: O_CREAT with O_EXCL returns EEXIST if the name exists; check and creation are one atomic step. */
START_TEST(of_several_rivals_one_creates_the_name)
{
    _Atomic int *flags = share(2 * sizeof *flags);
    pid_t rivals[RIVALS];

    for (int round = 0; round < 20; round++) {
        atomic_store(&flags[0], 0);
        atomic_store(&flags[1], 0);
        (void)own_name();
        for (int i = 0; i < RIVALS; i++) {
            rivals[i] = fork();
            if (rivals[i] == 0)
                compete(own_name(), &flags[0], &flags[1]);
        }
        atomic_store(&flags[0], 1);
        for (int i = 0; i < RIVALS; i++)
            ck_assert_int_eq(status_of(rivals[i]), 0);
        ck_assert_int_eq(atomic_load(&flags[1]), 1);
        ck_assert_int_eq(open_error(O_CREAT | O_EXCL, &four), EEXIST);
        ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    }
}
END_TEST

/*
 * sem_open: the owner is the effective user.  Differs in the mode: the umask has no effect.  Users whom the
 * given mode allows to read and to write may use the semaphore; all other users may not even read it.
 */
START_TEST(mode_and_owner_come_from_the_creator)
{
    fairsem_shared_t *h;
    struct stat st;
    char path[100];

    snprintf(path, sizeof path, "/dev/shm%s", own_name());
    for (int i = 0; i < 3; i++) {
        static const mode_t masks[] = { 0, 022, 077 };

        umask(masks[i]);
        ck_assert_int_eq(fairsem_shared_open(&h, own_name(), O_CREAT, 0664, &four), 0);
        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert_uint_eq(st.st_mode & 07777, 0660);
        ck_assert_uint_eq(st.st_uid, geteuid());
        ck_assert_uint_eq(st.st_gid, getegid());
        ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

/* Exits with SKIPPED if this process cannot become a user that the mode restricts. */
static void try_as_other_user(_Atomic int *made, int expected)
{
    fairsem_shared_t *h;

    await_flag(made, 1);
    if (geteuid() != 0 || setgid(65534) != 0 || setuid(65534) != 0)
        _exit(SKIPPED);
    CHILD_CHECK(fairsem_shared_open(&h, own_name(), 0, 0, NULL) == expected);
    CHILD_CHECK(fairsem_shared_open(&h, own_name(), O_CREAT, 0600, &four) == expected);
    if (expected == 0)
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0 && fairsem_shared_release(h, 1) == 0);
    _exit(0);
}

/* sem_open: EACCES if the mode of an existing semaphore forbids the access.  The creator can always use it. */
START_TEST(the_mode_says_which_users_may_open_the_semaphore)
{
    static const mode_t modes[] = { 0, 0644, 0666 };

    umask(0);
    (void)own_name();
    for (int i = 0; i < 3; i++) {
        _Atomic int *made = share(sizeof *made);
        fairsem_shared_t *h;
        pid_t child = fork();
        int status;

        if (child == 0)
            try_as_other_user(made, modes[i] == 0666 ? 0 : EACCES);
        ck_assert_int_eq(fairsem_shared_open(&h, own_name(), O_CREAT, modes[i], &four), 0);
        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        atomic_store(made, 1);
        status = status_of(child);
        ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
        if (status == SKIPPED)
            NOT_HERE("this process may not be another user");
        ck_assert_int_eq(status, 0);
    }
}
END_TEST

/*
 * sem_open: a process that has the semaphore open gets the same address.  Each open needs a close.  O_RDWR and
 * O_CLOEXEC, which POSIX does not define here, have no effect: they name what the call does in any case.
 */
START_TEST(a_process_that_opens_a_semaphore_again_gets_the_same_handle)
{
    static const int flags[] = { O_CREAT | O_RDWR, O_CLOEXEC, 0 };
    fairsem_shared_t *h = make_own_named(4, NO_UNDO), *again;

    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(fairsem_shared_open(&again, own_name(), flags[i], 0600, &four), 0);
        ck_assert_ptr_eq(again, h);
    }
    for (int left = 3; left >= 0; left--) {
        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        ck_assert_int_eq(fairsem_shared_available(h), left);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
}
END_TEST

/* sem_open: the same name gives the same semaphore. */
START_TEST(two_names_are_two_semaphores)
{
    fairsem_shared_t *h = make_own_named(4, NO_UNDO), *other, *again;
    char name[80];

    snprintf(name, sizeof name, "%s-other", own_name());
    ck_assert_int_eq(fairsem_shared_open(&other, name, O_CREAT | O_EXCL, 0600, &four), 0);
    ck_assert_int_eq(fairsem_shared_open(&again, own_name(), 0, 0, NULL), 0);
    ck_assert(again == h && other != h);
    ck_assert_int_eq(fairsem_shared_acquire(other, 3), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 4);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_open(&again, name, 0, 0, NULL), 0);
    ck_assert_ptr_eq(again, other);
    ck_assert_int_eq(fairsem_shared_unlink(name), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fairsem_shared_close(h), 0);
        ck_assert_int_eq(fairsem_shared_close(other), 0);
    }
}
END_TEST

static int error_with_name(const char *name)
{
    fairsem_shared_t *h;
    int error = fairsem_shared_open(&h, name, O_CREAT | O_EXCL, 0600, &four);

    if (error == 0) {
        ck_assert_int_eq(fairsem_shared_close(h), 0);
        ck_assert_int_eq(fairsem_shared_unlink(name), 0);
    } else {
        ck_assert_int_eq(fairsem_shared_unlink(name), error);
    }
    return error;
}

/*
 * sem_open, sem_unlink: ENAMETOOLONG if a component of the name is longer than {NAME_MAX}.  POSIX
 * leaves other names to the implementation: a name without a slash is invalid, a name with two is a path.
 */
START_TEST(a_name_begins_with_a_slash_and_has_at_most_name_max_characters)
{
    char name[NAME_MAX + 3] = "/";

    memset(name + 1, 'x', NAME_MAX + 1);
    ck_assert_int_eq(error_with_name(name), ENAMETOOLONG);
    name[1 + NAME_MAX] = '\0';
    memcpy(name, own_name(), strlen(own_name()));
    ck_assert_uint_eq(strlen(name), 1 + NAME_MAX);
    ck_assert_int_eq(error_with_name(name), 0);
    ck_assert_int_eq(error_with_name(name + 1), EINVAL);
    name[100] = '/';
    ck_assert_int_eq(error_with_name(name), ENOENT);
}
END_TEST

/* ---- sem_close ---- */

static fairsem_shared_t *open_own_name(void)
{
    fairsem_shared_t *h;

    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), 0, 0, NULL), 0);
    return h;
}

/*
 * sem_close: no effect on the value, which stays until sem_unlink, even while no process has the
 * semaphore open.  Differs with undo: the units of the process return, because no other process could
 * release them.
 */
START_TEST(the_value_stays_while_no_process_has_the_semaphore_open)
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

/* ---- exec, _exit ---- */

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
 * stays in any case, and other processes can use the semaphore.
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
 * sem_unlink: removes the name at once, even if processes wait.  Processes that have the semaphore
 * open can use it as before; its value and its queue do not change.
 */
START_TEST(processes_that_have_a_semaphore_open_go_on_without_its_name)
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
    RUN_SUITE("shared POSIX, open", a_process_that_has_inherited_nothing_finds_the_semaphore_by_name,
              a_semaphore_that_exists_is_not_changed_by_o_creat,
              of_several_rivals_one_creates_the_name, mode_and_owner_come_from_the_creator,
              the_mode_says_which_users_may_open_the_semaphore,
              a_process_that_opens_a_semaphore_again_gets_the_same_handle,
              two_names_are_two_semaphores,
              a_name_begins_with_a_slash_and_has_at_most_name_max_characters,
              the_value_stays_while_no_process_has_the_semaphore_open, close_frees_what_open_took,
              units_of_an_ended_process_stay_taken_only_without_undo,
              processes_that_have_a_semaphore_open_go_on_without_its_name,
              a_name_that_is_created_again_is_another_semaphore, no_process_finds_half_a_semaphore);
}
