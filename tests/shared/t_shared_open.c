/* SPDX-License-Identifier: MIT */
/*
 * t_shared_open.c - open, close and unlink: each result, and files that are not valid segments.
 */
#define _GNU_SOURCE             /* unshare */
#include "crowd.h"

#include "shared/handle.h"
#include "workers.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const fairsem_shared_attr_t four = { .units = 4 };

static int try_open(const char *name, int oflag, const fairsem_shared_attr_t *attr)
{
    fairsem_shared_t *const none = (void *)(uintptr_t)name, *h = none;
    int error;

    errno = 4711;
    error = fairsem_shared_open(&h, name, oflag, 0600, attr);
    ck_assert((h == none) == (error != 0));
    if (error == 0)
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    ck_assert_int_eq(errno, 4711);
    return error;
}

static int try_unlink(const char *name)
{
    int error;

    errno = 4711;
    error = fairsem_shared_unlink(name);
    ck_assert_int_eq(errno, 4711);
    return error;
}

START_TEST(an_invalid_name_is_refused)
{
    static const char *const wrong[] = { "", "x", "/", "//", "/.", "/..", "a/b", "/a/", "/a/.",
                                         "/a/.." };
    char longer[300];

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_int_eq(try_open(wrong[i], O_CREAT, &four), EINVAL);
        ck_assert_int_eq(try_unlink(wrong[i]), EINVAL);
    }
    memset(longer, 'x', sizeof longer);
    longer[0] = '/';
    longer[sizeof longer - 1] = '\0';
    ck_assert_int_eq(try_open(longer, O_CREAT, &four), ENAMETOOLONG);
    ck_assert_int_eq(try_unlink(longer), ENAMETOOLONG);
}
END_TEST

/* A name with a second slash is a path.  Each error must leave nothing behind. */
START_TEST(an_invalid_path_is_refused)
{
    char longest[PATH_MAX + 10], file[400];
    const char *no_directory = "/dev/shm/none/x", *no_tmpfile = "/proc/x";

    ck_assert_int_eq(try_open(no_directory, 0, NULL), ENOENT);
    ck_assert_int_eq(try_open(no_directory, O_CREAT, &four), ENOENT);
    ck_assert_int_eq(try_unlink(no_directory), ENOENT);
    ck_assert_int_eq(try_open("/dev/null/x", O_CREAT, &four), ENOTDIR);
    ck_assert_int_eq(try_unlink("/dev/null/x"), ENOTDIR);
    snprintf(file, sizeof file, "/dev/shm%s-d", own_name());
    ck_assert_int_eq(mkdir(file, 0700), 0);
    ck_assert_int_eq(try_open(file, O_CREAT, &four), EINVAL);
    ck_assert_int_eq(try_unlink(file), EINVAL);
    ck_assert_int_eq(rmdir(file), 0);
    ck_assert_int_eq(try_open("/dev/shm/", O_CREAT, &four), EINVAL);
    ck_assert_int_eq(try_open(no_tmpfile, O_CREAT, &four),
                     access("/proc", W_OK) == 0 ? ENODEV : EACCES);
    ck_assert_int_eq(try_open("/dev/null", O_CREAT, &four), ENOTRECOVERABLE);
    memset(longest, 'x', sizeof longest);
    for (size_t i = 0; i < sizeof longest; i += 100)
        longest[i] = '/';
    longest[sizeof longest - 1] = '\0';
    ck_assert_int_eq(try_open(longest, O_CREAT, &four), ENAMETOOLONG);
    ck_assert_int_eq(try_unlink(longest), ENAMETOOLONG);
    snprintf(file, sizeof file, "/dev/shm/%0300d", 0);
    ck_assert_int_eq(try_open(file, O_CREAT, &four), ENAMETOOLONG);
}
END_TEST

/* Two containers that mount the same directory have two such paths. */
START_TEST(two_paths_to_one_file_are_one_segment)
{
    fairsem_shared_t *h, *by_name, *by_link;
    char directory[100], other[100], path[200], second[200];
    struct stat st;

    snprintf(directory, sizeof directory, "/dev/shm%s-d", own_name());
    snprintf(other, sizeof other, "/dev/shm%s-e", own_name());
    snprintf(path, sizeof path, "%s/x", directory);
    ck_assert_int_eq(mkdir(directory, 0700), 0);
    ck_assert_int_eq(symlink(directory, other), 0);
    ck_assert_int_eq(fairsem_shared_open(&h, path, O_CREAT | O_EXCL, 0600, &four), 0);
    ck_assert(lstat(path, &st) == 0 && (st.st_mode & 0777) == 0600 && S_ISREG(st.st_mode));
    snprintf(second, sizeof second, "%s/x", other);
    ck_assert_int_eq(fairsem_shared_open(&by_link, second, 0, 0, NULL), 0);
    ck_assert_ptr_eq(by_link, h);
    ck_assert_int_eq(fairsem_shared_close(by_link), 0);
    /* A name and the path of its file also give one handle. */
    ck_assert_int_eq(fairsem_shared_open(&by_name, own_name(), O_CREAT, 0600, &four), 0);
    snprintf(second, sizeof second, "/dev/shm%s", own_name());
    ck_assert_int_eq(fairsem_shared_open(&by_link, second, 0, 0, NULL), 0);
    ck_assert_ptr_eq(by_link, by_name);
    ck_assert_int_eq(fairsem_shared_unlink(second), 0);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), ENOENT);
    ck_assert_int_eq(fairsem_shared_unlink(path), 0);
    ck_assert_int_eq(fairsem_shared_unlink(path), ENOENT);
    fairsem_shared_close(by_link);
    fairsem_shared_close(by_name);
    fairsem_shared_close(h);
    ck_assert_int_eq(unlink(other), 0);
    ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

START_TEST(an_invalid_attribute_is_refused)
{
    static const struct fairsem_shared_attr wrong[] = {
        { .units = -1 }, { .units = FAIRSEM_MAX_UNITS + 1 }, { .capacity = -1 },
        { .units = 2, .capacity = 3 }, { .units = 3, .capacity = 2 },
        { .units = 3, .capacity = 2, .flags = FAIRSEM_SHARED_NO_UNDO },
        { .capacity = FAIRSEM_MAX_UNITS + 1, .flags = FAIRSEM_SHARED_NO_UNDO },
        { .max_waiters = -1 }, { .max_waiters = FAIRSEM_SHARED_MAX + 1 },
        { .max_processes = -1 }, { .max_processes = FAIRSEM_SHARED_MAX + 1 },
        { .flags = 4 }, { .flags = 1u << 31 }, { .reserved_ = { 1 } },
        { .reserved_ = { [4] = 1 } },
    };
    static const struct fairsem_shared_attr right[] = {
        { .units = 0 }, { .units = FAIRSEM_MAX_UNITS }, { .units = 2, .capacity = 2 },
        { .units = 2, .capacity = 3, .flags = FAIRSEM_SHARED_NO_UNDO },
        { .max_waiters = 1, .max_processes = 1 }, { .flags = FAIRSEM_SHARED_NO_SPIN },
        { .max_waiters = FAIRSEM_SHARED_MAX, .max_processes = FAIRSEM_SHARED_MAX },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_int_eq(try_open(NULL, 0, &wrong[i]), EINVAL);
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        ck_assert_int_eq(try_open(NULL, 0, &right[i]), 0);
    ck_assert_int_eq(try_open(NULL, 0, NULL), EINVAL);
    ck_assert_int_eq(try_open(own_name(), O_CREAT, NULL), EINVAL);
    ck_assert_int_eq(try_open(own_name(), O_CREAT | O_TRUNC, &four), EINVAL);
    ck_assert_int_eq(try_open(own_name(), 0, NULL), ENOENT);
    ck_assert_int_eq(try_open(own_name(), O_EXCL, &four), ENOENT);
}
END_TEST

/* Closing another descriptor of the file would release the liveness lock of this process. */
START_TEST(opening_a_name_again_keeps_the_units)
{
    fairsem_shared_t *h;
    pid_t child;

    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), O_CREAT, 0600, &four), 0);
    ck_assert_int_eq(fairsem_shared_acquire(h, 2), 0);
    ck_assert_int_eq(try_open(own_name(), O_CREAT, &four), 0);
    ck_assert_int_eq(try_open(own_name(), O_CREAT | O_EXCL, &four), EEXIST);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_shared_available(h) == 2);
        CHILD_CHECK(fairsem_shared_close(h) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

static int file_of(const char *name, const void *content, size_t size)
{
    int fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, content, size), (ssize_t)size);
    return close(fd);
}

START_TEST(a_file_that_is_not_a_segment_is_refused_and_can_be_removed)
{
    static const char text[32768] = "not a segment";
    static const size_t sizes[] = { 0, 8, 512, sizeof text };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        ck_assert_int_eq(file_of(own_name(), text, sizes[i]), 0);
        ck_assert_int_eq(try_open(own_name(), O_CREAT, &four), ENOTRECOVERABLE);
        ck_assert_int_eq(try_open(own_name(), 0, NULL), ENOTRECOVERABLE);
        ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    }
}
END_TEST

/* Overwrite bytes of the file, which no process has open; then set its length, unless `length` is negative. */
static void scribble(int64_t at, const void *bytes, size_t size, off_t length)
{
    int fd = shm_open(own_name(), O_RDWR, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, bytes, size, at), (ssize_t)size);
    if (length >= 0)
        ck_assert_int_eq(ftruncate(fd, length), 0);
    close(fd);
}

static void make_closed(void)
{
    fairsem_shared_t *h;

    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), O_CREAT | O_EXCL, 0600, &four), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}

/* The header begins with: magic, version, flags, size, units, capacity, max_waiters. */
START_TEST(an_invalid_header_is_refused)
{
    static const struct { int at; int32_t value; int error; } wrong[] = {
        { 0, 1, ENOTRECOVERABLE }, { 8, 4, ENOTSUP }, { 8, 6, ENOTSUP }, { 8, 0, ENOTSUP },
        { 12, 64, ENOTRECOVERABLE }, { 16, 4096, ENOTRECOVERABLE },
        { 24, -1, ENOTRECOVERABLE }, { 28, -1, ENOTRECOVERABLE }, { 32, 5, ENOTRECOVERABLE },
        { 40, 0, ENOTRECOVERABLE }, { 40, 1 << 20, ENOTRECOVERABLE }, { 40, 255, ENOTRECOVERABLE },
        { 44, 0, ENOTRECOVERABLE }, { 44, -1, ENOTRECOVERABLE },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        make_closed();
        scribble(wrong[i].at, &wrong[i].value, 4, -1);
        ck_assert_int_eq(try_open(own_name(), O_CREAT, &four), wrong[i].error);
        ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    }
    make_closed();
    scribble(0, "", 0, 4096);
    ck_assert_int_eq(try_open(own_name(), 0, NULL), ENOTRECOVERABLE);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
}
END_TEST

/* Failure detection notices the truncation before it accesses pages that are gone. */
START_TEST(a_truncated_segment_is_damaged)
{
    fairsem_shared_t *h;

    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), O_CREAT, 0600, &four), 0);
    ck_assert_int_eq(fairsem_shared_acquire(h, 4), 0);
    /*
     * Truncate in a child: in this process, closing a descriptor of the file would release our liveness lock.
     */
    pid_t child = fork();
    if (child == 0) {
        int fd = shm_open(own_name(), O_RDWR, 0600);

        CHILD_CHECK(fd >= 0 && ftruncate(fd, 8192) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), ENOTRECOVERABLE);
    ck_assert_int_eq(fairsem_shared_available(h), -1);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(other_kinds_of_files_are_refused)
{
    char path[100];

    snprintf(path, sizeof path, "/dev/shm%s", own_name());
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(try_open(own_name(), O_CREAT, &four), EINVAL);
    ck_assert_int_eq(try_open(own_name(), 0, NULL), EINVAL);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), EINVAL);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(try_open(own_name(), O_CREAT, &four), ENOTRECOVERABLE);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(symlink("/dev/null", path), 0);
    ck_assert_int_eq(try_open(own_name(), O_CREAT, &four), ELOOP);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
}
END_TEST

START_TEST(open_without_a_free_descriptor_fails_and_leaves_nothing)
{
    struct rlimit limit;
    fairsem_shared_t *h;
    int before = dup(0), after;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    close(before);
    limit.rlim_cur = (rlim_t)before;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), O_CREAT, 0600, &four), EMFILE);
    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &four), EMFILE);
    limit.rlim_cur = (rlim_t)before + 1;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(try_open(own_name(), 0, NULL), ENOENT);
    ck_assert_int_eq(try_open(own_name(), O_CREAT, &four), 0);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    after = dup(0);
    ck_assert_int_eq(after, before);
    close(after);
}
END_TEST

/*
 * The limit is that of ulimit -f (RLIMIT_FSIZE).  Pending and blocked signals of the process stay as they
 * were.
 */
START_TEST(a_file_size_limit_is_an_error_and_no_signal)
{
    struct rlimit small;
    pid_t child = fork();

    if (child == 0) {
        sigset_t signals, mask;
        fairsem_shared_t *h;

        CHILD_CHECK(getrlimit(RLIMIT_FSIZE, &small) == 0);
        small.rlim_cur = 4096;
        CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
        CHILD_CHECK(fairsem_shared_open(&h, own_name(), O_CREAT, 0600, &four) == EFBIG);
        CHILD_CHECK(fairsem_shared_open(&h, own_name(), 0, 0, NULL) == ENOENT);
        CHILD_CHECK(fairsem_shared_open(&h, NULL, 0, 0, &four) == EFBIG);
        CHILD_CHECK(sigpending(&signals) == 0 && !sigismember(&signals, SIGXFSZ));
        CHILD_CHECK(sigprocmask(SIG_SETMASK, NULL, &mask) == 0 && !sigismember(&mask, SIGXFSZ));
        CHILD_CHECK(sigaddset(&mask, SIGXFSZ) == 0);
        CHILD_CHECK(sigprocmask(SIG_SETMASK, &mask, NULL) == 0 && raise(SIGXFSZ) == 0);
        CHILD_CHECK(fairsem_shared_open(&h, NULL, 0, 0, &four) == EFBIG);
        CHILD_CHECK(sigpending(&signals) == 0 && sigismember(&signals, SIGXFSZ));
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
}
END_TEST

/* A program that was started without standard output must not print into a segment. */
START_TEST(standard_output_is_never_a_segment)
{
    const char *const names[] = { own_name(), own_name(), NULL };    /* a new name, an existing one, none */
    pid_t child = fork();

    if (child == 0) {
        for (int closed = 0; closed < 8; closed++) {
            for (int fd = 0; fd < 3; fd++) {
                if ((closed >> fd & 1) != 0)
                    close(fd);
            }
            for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
                fairsem_shared_t *h;

                CHILD_CHECK(fairsem_shared_open(&h, names[i], O_CREAT, 0600, &four) == 0);
                for (int fd = 0; fd < 3; fd++)
                    CHILD_CHECK((closed >> fd & 1) == 0 || fcntl(fd, F_GETFD) == -1);
                CHILD_CHECK(fairsem_shared_close(h) == 0);
            }
            CHILD_CHECK(fairsem_shared_unlink(own_name()) == 0);
            for (int fd = 0; fd < 3; fd++)
                CHILD_CHECK((closed >> fd & 1) == 0 || open("/dev/null", O_RDWR) == fd);
        }
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
}
END_TEST

static void write_to(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
}

/*
 * Give this process a mount namespace of its own, perhaps in a new user namespace.  Returns false if the
 * kernel does not permit that, or if mounts would be visible outside, as in a chroot whose root is not a mount
 * point.
 */
static bool enter_mount_namespace(void)
{
    char user[50], group[50];

    snprintf(user, sizeof user, "%u %u 1", geteuid(), geteuid());
    snprintf(group, sizeof group, "%u %u 1", getegid(), getegid());
    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return false;
        write_to("/proc/self/uid_map", user);
        write_to("/proc/self/setgroups", "deny");
        write_to("/proc/self/gid_map", group);
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* /dev/shm has 8 KiB. */
START_TEST(a_full_file_system_is_an_error_and_no_signal)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        fairsem_shared_t *h;

        if (!enter_mount_namespace())
            _exit(SKIPPED);
        CHILD_CHECK(mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=8k") == 0);
        CHILD_CHECK(fairsem_shared_open(&h, "/full", O_CREAT, 0600, &four) == ENOSPC);
        CHILD_CHECK(fairsem_shared_open(&h, "/full", 0, 0, NULL) == ENOENT);
        _exit(0);
    }
    status = status_of(child);
    if (status == SKIPPED)
        puts("not here: a mount namespace, which the kernel does not permit");
    else
        ck_assert_int_eq(status, 0);
}
END_TEST

/* Let another process open `path` and try to acquire a unit.  Returns the error of that process, or 0. */
static int error_of_another(const char *path)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        fairsem_shared_t *h;
        int error = fairsem_shared_open(&h, path, 0, 0, NULL);

        _exit(error != 0 ? error : fairsem_shared_tryacquire(h, 1));
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ramfs has no fallocate. */
START_TEST(two_mounts_of_a_ramfs_share_segments)
{
    char one[100], two[100];
    pid_t child;
    int status;

    snprintf(one, sizeof one, "/dev/shm%s-d", own_name());
    snprintf(two, sizeof two, "/dev/shm%s-e", own_name());
    ck_assert(mkdir(one, 0700) == 0 && mkdir(two, 0700) == 0);
    child = fork();
    if (child == 0) {
        char in_one[110], in_two[110];
        fairsem_shared_t *h, *same;

        snprintf(in_one, sizeof in_one, "%s/x", one);
        snprintf(in_two, sizeof in_two, "%s/x", two);
        if (!enter_mount_namespace())
            _exit(SKIPPED);
        CHILD_CHECK(mount("ramfs", one, "ramfs", 0, NULL) == 0);
        CHILD_CHECK(mount(one, two, NULL, MS_BIND, NULL) == 0);
        CHILD_CHECK(fairsem_shared_open(&h, in_one, O_CREAT, 0600, &four) == 0);
        CHILD_CHECK(fairsem_shared_open(&same, in_two, 0, 0, NULL) == 0 && same == h);
        CHILD_CHECK(fairsem_shared_acquire(h, 4) == 0);
        CHILD_CHECK(error_of_another(in_two) == EAGAIN);
        CHILD_CHECK(fairsem_shared_release(h, 1) == 0);
        CHILD_CHECK(error_of_another(in_two) == 0);         /* that process dies with the unit */
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0);
        CHILD_CHECK(fairsem_shared_unlink(in_two) == 0);
        CHILD_CHECK(fairsem_shared_unlink(in_one) == ENOENT);
        _exit(0);
    }
    status = status_of(child);
    ck_assert(rmdir(one) == 0 && rmdir(two) == 0);
    if (status == SKIPPED)
        puts("not here: a mount namespace, which the kernel does not permit");
    else
        ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(no_more_than_max_processes_can_use_a_segment)
{
    fairsem_shared_t *h = make_small_segment(8, 0, 2, 3);
    pid_t first = fork_holder(h, 1), second = fork_holder(h, 1), third;

    third = fork();
    if (third == 0) {
        CHILD_CHECK(fairsem_shared_tryacquire(h, 1) == EUSERS);
        CHILD_CHECK(fairsem_shared_available(h) == -1);
        CHILD_CHECK(fairsem_shared_close(h) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(third), 0);
    kill_child(first);
    third = fork_user(h, 7, 0, NULL, NULL);
    ck_assert_int_eq(status_of(third), 0);
    kill_child(second);
    ck_assert_int_eq(fairsem_shared_available(h), 8);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

static const char *busy_in;     /* the step of a call in which another segment is opened and closed */

static void open_and_close_another(const char *what)
{
    fairsem_shared_t *h;

    if (strcmp(what, busy_in) != 0)
        return;
    fs_shared_step = NULL;
    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &four), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}

/* In each of these steps the call may have to wait for a lock, or for other processes. */
START_TEST(other_segments_are_opened_and_closed_while_a_call_attaches_or_detaches)
{
    fairsem_shared_t *h;

    make_closed();
    busy_in = "take a liveness lock";
    fs_shared_step = open_and_close_another;
    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), 0, 0, NULL), 0);
    ck_assert(fs_shared_step == NULL);          /* that step was reached */
    busy_in = "locked";
    fs_shared_step = open_and_close_another;
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    ck_assert(fs_shared_step == NULL);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
}
END_TEST

static _Atomic int closes, may_be_closed, opened_again;
static fairsem_shared_t *again;

static void stay_in_close(const char *what)
{
    if (strcmp(what, "locked") != 0)
        return;
    fs_shared_step = NULL;
    atomic_store(&closes, 1);
    await_flag(&may_be_closed, 1);
}

static void *close_it(void *h)
{
    insist(0, fairsem_shared_close(h));
    return h;
}

static void *open_it(void *name)
{
    insist(0, fairsem_shared_open(&again, name, 0, 0, NULL));
    insist(0, fairsem_shared_acquire(again, 4));
    atomic_store(&opened_again, 1);
    return name;
}

/* The close of the descriptor releases the liveness lock.  So it must come before an open of another one. */
START_TEST(an_open_waits_for_another_thread_that_closes_the_same_segment)
{
    fairsem_shared_t *h = make_own_named(4, 0);
    pthread_t closer, opener;
    pid_t child;

    ck_assert_int_eq(fairsem_shared_acquire(h, 4), 0);
    fs_shared_step = stay_in_close;
    start_thread(&closer, close_it, h);
    await_flag(&closes, 1);
    start_thread(&opener, open_it, (void *)(uintptr_t)own_name());
    for (int looks = 0; looks < 20 && !atomic_load(&opened_again); looks++)
        nap(1);         /* time for an open that does not wait, which would be wrong */
    ck_assert_int_eq(opened_again, 0);
    atomic_store(&may_be_closed, 1);
    ck_assert_int_eq(pthread_join(closer, NULL), 0);
    ck_assert_int_eq(pthread_join(opener, NULL), 0);
    child = fork();
    if (child == 0)
        _exit(fairsem_shared_available(again) == 0 ? 0 : 1);
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(again), 0);
}
END_TEST

struct place { _Atomic int reached, may_go_on; };
static struct place *in_scan;

static void pause_in_scan(const char *what)
{
    static int taken;

    if (strcmp(what, "take a liveness lock") == 0 && ++taken == 3) {
        atomic_store(&in_scan->reached, 1);
        await_flag(&in_scan->may_go_on, 1);
    }
}

/*
 * The newcomer has passed two entries in use, and pauses before the third.  Then the second entry becomes
 * free, and another process takes the third.  At each moment one entry is free, so the newcomer must find one.
 */
START_TEST(a_newcomer_that_others_overtake_finds_the_entry_that_is_left)
{
    fairsem_shared_t *h = make_small_segment(3, 0, 2, 3);
    pid_t passed = fork_holder(h, 1), ahead = fork_holder(h, 1), newcomer, other;

    in_scan = share(sizeof *in_scan);
    kill_child(ahead);
    newcomer = fork();
    if (newcomer == 0) {
        fs_shared_step = pause_in_scan;
        CHILD_CHECK(fairsem_shared_tryacquire(h, 1) == 0);
        CHILD_CHECK(atomic_load(&in_scan->reached) == 1);
        _exit(0);
    }
    while (atomic_load(&in_scan->reached) == 0 && !has_ended(newcomer))
        nap(1);
    ck_assert_int_eq(fairsem_shared_available(h), 2);       /* reaps `ahead`, and frees the third entry */
    kill_child(passed);
    other = fork_holder(h, 1);
    atomic_store(&in_scan->may_go_on, 1);
    ck_assert_int_eq(status_of(newcomer), 0);
    kill_child(other);
    ck_assert_int_eq(fairsem_shared_available(h), 3);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* All entries that are farther away are in pages that cannot be read. */
START_TEST(a_first_call_looks_only_at_entries_near_the_first_free_one)
{
    fairsem_shared_t *h = make_small_segment(1, 0, 1, FAIRSEM_SHARED_MAX);
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)&h->processes[2] + page - 1) / page * page;
    uintptr_t to = (uintptr_t)&h->processes[FAIRSEM_SHARED_MAX] / page * page;
    pid_t child = fork();

    if (child == 0) {
        CHILD_CHECK(to > from && mprotect((void *)from, to - from, PROT_NONE) == 0);
        CHILD_CHECK(fairsem_shared_tryacquire(h, 1) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared open", an_invalid_name_is_refused, an_invalid_path_is_refused,
              two_paths_to_one_file_are_one_segment, an_invalid_attribute_is_refused,
              opening_a_name_again_keeps_the_units,
              a_file_that_is_not_a_segment_is_refused_and_can_be_removed, an_invalid_header_is_refused,
              a_truncated_segment_is_damaged, other_kinds_of_files_are_refused,
              open_without_a_free_descriptor_fails_and_leaves_nothing,
              a_file_size_limit_is_an_error_and_no_signal, standard_output_is_never_a_segment,
              a_full_file_system_is_an_error_and_no_signal, two_mounts_of_a_ramfs_share_segments,
              no_more_than_max_processes_can_use_a_segment,
              other_segments_are_opened_and_closed_while_a_call_attaches_or_detaches,
              an_open_waits_for_another_thread_that_closes_the_same_segment,
              a_newcomer_that_others_overtake_finds_the_entry_that_is_left,
              a_first_call_looks_only_at_entries_near_the_first_free_one);
}
