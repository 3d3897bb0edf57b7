/* SPDX-License-Identifier: MIT */
/* t_shared_names.c - removal of names, the owner of a file, and time limits of waits for a stopped process. */
#include "crowd.h"

#include "shared/handle.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static fairsem_shared_t *sem;

static bool name_is_there(void)
{
    fairsem_shared_t *now;

    if (fairsem_shared_open(&now, own_name(), 0, 0, NULL) != 0)
        return false;
    ck_assert_int_eq(fairsem_shared_close(now), 0);
    return now == sem;
}

static int unlink_unused(bool kept)
{
    int error;

    errno = 4711;
    error = fairsem_shared_unlink_unused(sem, own_name(), kept);
    ck_assert_int_eq(errno, 4711);
    ck_assert_int_eq(name_is_there(), error != 0);
    return error;
}

START_TEST(a_name_in_use_stays)
{
    pid_t child;

    sem = make_own_named(2, 0);
    ck_assert_int_eq(fairsem_shared_acquire(sem, 1), 0);
    child = fork_holder(sem, 1);
    ck_assert_int_eq(unlink_unused(true), EBUSY);
    kill_child(child);
    child = queue_user(sem, 2);
    ck_assert_int_eq(unlink_unused(true), EBUSY);
    kill_child(child);
    ck_assert_int_eq(unlink_unused(false), 0);      /* units of this process are no reason to keep the name */
    ck_assert_int_eq(fairsem_shared_unlink_unused(sem, own_name(), true), ENOENT);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
}
END_TEST

START_TEST(a_name_that_is_kept_or_whose_units_were_set_stays)
{
    sem = make_own_named(2, 0);
    ck_assert_int_eq(fairsem_shared_set_units(sem, 3), 0);
    ck_assert_int_eq(unlink_unused(false), EBUSY);
    ck_assert_int_eq(fairsem_shared_set_units(sem, 2), 0);
    ck_assert_int_eq(unlink_unused(false), 0);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
    for (int kept = 0; kept < 2; kept++) {
        sem = make_own_named(2, 0);
        ck_assert_int_eq(fairsem_shared_keep_name(sem), 0);
        ck_assert_int_eq(unlink_unused(false), EBUSY);
        if (kept)
            ck_assert_int_eq(unlink_unused(true), 0);
        else
            ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
        ck_assert_int_eq(fairsem_shared_close(sem), 0);
    }
}
END_TEST

START_TEST(another_segment_of_that_name_stays)
{
    fairsem_shared_t *first = make_own_named(1, 0);

    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    sem = make_own_named(1, 0);
    ck_assert_int_eq(fairsem_shared_unlink_unused(first, own_name(), true), ENOENT);
    ck_assert(name_is_there());
    ck_assert_int_eq(fairsem_shared_unlink_unused(sem, "none", true), EINVAL);
    ck_assert_int_eq(unlink_unused(true), 0);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
    ck_assert_int_eq(fairsem_shared_close(first), 0);
    sem = make_own_named(1, FAIRSEM_SHARED_NO_UNDO);
    ck_assert_int_eq(unlink_unused(true), EINVAL);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
}
END_TEST

static int looks;

/* Between the check and the unlink a unit is free, but no process can take it. */
static void look_for_the_lock(const char *what)
{
    pid_t child;

    if (strcmp(what, "unlink") != 0)
        return;
    looks++;
    if ((child = fork()) == 0) {
        fs_shared_step = NULL;
        FS_PUT(&sem->segment->checked_ns, -1);      /* no recent check, so that a refusal needs the lock */
        _exit(fairsem_shared_tryacquire(sem, 1) == EAGAIN ? 0 : __LINE__ & 0x7f);
    }
    ck_assert_int_eq(status_of(child), 0);
}

START_TEST(no_unit_is_taken_while_the_name_is_removed)
{
    looks = 0;
    sem = make_own_named(2, 0);
    fs_shared_step = look_for_the_lock;
    ck_assert_int_eq(unlink_unused(false), 0);
    fs_shared_step = NULL;
    ck_assert_int_eq(looks, 1);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
}
END_TEST

/* The file is refused before it is read.  Root gives the segment away; other users try /etc/passwd. */
START_TEST(the_file_of_another_user_is_refused)
{
    static const fairsem_shared_attr_t one = { .units = 1 };
    char path[100];
    fairsem_shared_t *again;

    sem = make_own_named(1, 0);
    ck_assert_int_eq(fairsem_shared_open(&again, own_name(), FAIRSEM_SHARED_OWN, 0, NULL), 0);
    ck_assert_int_eq(fairsem_shared_close(again), 0);
    snprintf(path, sizeof path, "%s%s", "/dev/shm", own_name());
    if (geteuid() != 0)
        snprintf(path, sizeof path, "/etc/passwd");
    else
        ck_assert_int_eq(chown(path, 4711, 4711), 0);
    for (int oflag = 0; oflag <= O_CREAT; oflag += O_CREAT) {
        ck_assert_int_eq(fairsem_shared_open(&again, path, oflag | FAIRSEM_SHARED_OWN, 0600, &one), EPERM);
        ck_assert_int_eq(fairsem_shared_close(sem), 0);         /* no handle, as in another process */
        ck_assert_int_eq(fairsem_shared_open(&again, path, oflag | FAIRSEM_SHARED_OWN, 0600, &one), EPERM);
        ck_assert_int_eq(fairsem_shared_open(&sem, own_name(), 0, 0, NULL), 0);
    }
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
}
END_TEST

/* Other users may write to the file, or have made a hard link to it. */
START_TEST(a_file_that_is_not_ours_alone_is_refused)
{
    char path[100], other[110];

    snprintf(path, sizeof path, "/dev/shm%s", own_name());
    snprintf(other, sizeof other, "%s-2", path);
    sem = make_own_named(1, 0);
    for (int i = 0; i < 4; i++) {
        static const mode_t modes[] = { 0600, 0620, 0602, 0644 };
        fairsem_shared_t *again;
        bool ours = modes[i] == 0600 || modes[i] == 0644;

        ck_assert_int_eq(chmod(path, modes[i]), 0);
        ck_assert_int_eq(fairsem_shared_open(&again, path, FAIRSEM_SHARED_OWN, 0, NULL), ours ? 0 : EPERM);
        if (!ours)
            continue;
        ck_assert_int_eq(fairsem_shared_close(again), 0);
        ck_assert_int_eq(link(path, other), 0);
        ck_assert_int_eq(fairsem_shared_open(&again, path, FAIRSEM_SHARED_OWN, 0, NULL), EPERM);
        ck_assert_int_eq(unlink(other), 0);
    }
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
}
END_TEST

static void stop_with_lock(const char *what)
{
    if (strncmp(what, "commit", 6) != 0)
        return;
    fs_shared_step = NULL;
    raise(SIGSTOP);
}

/*
 * The table has four entries: of this process, of the stopped owner of the lock, of a dead process, and a free
 * one.
 */
START_TEST(nothing_waits_for_ever_for_a_stopped_process)
{
    const fairsem_shared_attr_t attr = { .units = 3, .max_processes = 4 };
    fairsem_shared_t *h;
    fairsem_shared_stat_t stat;
    pid_t dead, stopped, newcomer[2];
    int status;

    ck_assert_int_eq(fairsem_shared_open(&sem, own_name(), O_CREAT | O_EXCL, 0600, &attr), 0);
    dead = fork_holder(sem, 1);
    if ((stopped = fork()) == 0) {
        CHILD_CHECK(fairsem_shared_acquire(sem, 1) == 0);
        fs_shared_step = stop_with_lock;
        CHILD_CHECK(fairsem_shared_release(sem, 1) == 0);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(stopped, &status, WUNTRACED), stopped);
    ck_assert(WIFSTOPPED(status));
    kill_child(dead);
    for (int i = 0; i < 2; i++) {           /* with a free entry, and without one */
        if ((newcomer[i] = fork()) != 0)
            continue;
        sem->file.inode = 0;                /* so that this child opens the segment like another program */
        CHILD_CHECK(fairsem_shared_open(&h, own_name(), 0, 0, NULL) == 0);
        CHILD_CHECK(fairsem_shared_acquire_for(h, 1, 1000000) == ETIMEDOUT);
        CHILD_CHECK(fairsem_shared_tryacquire(h, 1) == EAGAIN);
        CHILD_CHECK(fairsem_shared_stat(h, &stat) == 0 && stat.capacity == 3);
        CHILD_CHECK((i == 0 ? fairsem_shared_set_units(h, 5)
                            : fairsem_shared_unlink_unused(h, own_name(), true)) == ETIMEDOUT);
        _exit(0);
    }
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(status_of(newcomer[i]), 0);
    ck_assert_int_eq(kill(stopped, SIGCONT), 0);
    ck_assert_int_eq(status_of(stopped), 0);
    ck_assert_int_eq(fairsem_shared_stat(sem, &stat), 0);
    ck_assert(stat.capacity == 3 && stat.available == 3);
    ck_assert_int_eq(fairsem_shared_unlink_unused(sem, own_name(), false), 0);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared names", a_name_in_use_stays, a_name_that_is_kept_or_whose_units_were_set_stays,
              another_segment_of_that_name_stays, no_unit_is_taken_while_the_name_is_removed,
              the_file_of_another_user_is_refused, a_file_that_is_not_ours_alone_is_refused,
              nothing_waits_for_ever_for_a_stopped_process);
}
