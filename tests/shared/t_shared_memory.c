/* SPDX-License-Identifier: MIT */
/*
 * t_shared_memory.c - a call that gets no memory, or cannot read the file, returns the error and leaves nothing
 * behind.  The process keeps its liveness lock.
 *
 * Only open and dump allocate.  The first run fails the first allocation, the second run the second one, and so
 * on, until a run makes fewer allocations.  Reads of the file fail in the same way.
 */
#include "bare.h"
#include "crowd.h"

#include "shared/handle.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Countdowns to the allocation that fails, and to the read of the file that fails; 0 without a failure. */
static int countdown, read_countdown;

BARE static bool fails(void)
{
    return countdown != 0 && --countdown == 0;
}

static bool read_fails(void)
{
    return read_countdown != 0 && --read_countdown == 0;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
BARE void *__wrap_malloc(size_t size)
{
    return fails() ? (errno = ENOMEM, NULL) : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
BARE void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? (errno = ENOMEM, NULL) : __real_calloc(count, size);
}

int __real_fs_file_map(int fd, int64_t size, void **memory);
int __wrap_fs_file_map(int fd, int64_t size, void **memory);
int __wrap_fs_file_map(int fd, int64_t size, void **memory)
{
    return fails() ? ENOMEM : __real_fs_file_map(fd, size, memory);
}

int __real_fs_file_inspect(int fd, struct fs_file *file);
int __wrap_fs_file_inspect(int fd, struct fs_file *file);
int __wrap_fs_file_inspect(int fd, struct fs_file *file)
{
    return read_fails() ? EIO : __real_fs_file_inspect(fd, file);
}

int __real_fs_file_read(int fd, void *to, int64_t size);
int __wrap_fs_file_read(int fd, void *to, int64_t size);
int __wrap_fs_file_read(int fd, void *to, int64_t size)
{
    return read_fails() ? EIO : __real_fs_file_read(fd, to, size);
}

static char other_name[100], path[120], other_path[120];

static void name_them(void)
{
    snprintf(other_name, sizeof other_name, "%s-b", own_name());
    snprintf(path, sizeof path, "/dev/shm%s", own_name());
    snprintf(other_path, sizeof other_path, "/dev/shm%s", other_name);
}

/* If set, the file `path` is renamed to other_path, between the search for an open segment and the open. */
static bool replaces;
/* If set, the file other_path is renamed to `path` at the same moment. */
static bool is_replaced;

int __real_fs_file_open(const char *file, int *fd);
int __wrap_fs_file_open(const char *file, int *fd);
int __wrap_fs_file_open(const char *file, int *fd)
{
    if (replaces)
        rename(path, other_path);
    if (is_replaced)
        rename(other_path, path);
    return __real_fs_file_open(file, fd);
}

static const fairsem_shared_attr_t four = { .units = 4 };

/* Open own_name() while the k-th call of this countdown fails.  Returns false if fewer calls are made. */
static bool open_fails(int oflag, int *count, int k, int expected, int error_after)
{
    int before = dup(0), after, error;
    fairsem_shared_t *const none = (void *)path, *h = none;
    bool failed;

    close(before);
    *count = k;
    errno = 4711;
    error = fairsem_shared_open(&h, own_name(), oflag, 0600, &four);
    failed = *count == 0;
    *count = 0;
    ck_assert_int_eq(errno, 4711);
    if (!failed) {
        ck_assert_int_eq(error, 0);
        ck_assert_int_eq(fairsem_shared_available(h), 4);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
        return false;
    }
    ck_assert_int_eq(error, expected);
    ck_assert_ptr_eq(h, none);
    after = dup(0);
    ck_assert_int_eq(after, before);
    close(after);
    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), 0, 0, NULL), error_after);
    if (error_after == 0)
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    return true;
}

START_TEST(an_open_without_memory_leaves_nothing)
{
    int k = 1;

    while (open_fails(O_CREAT | O_EXCL, &countdown, k, ENOMEM, ENOENT))
        k++;
    ck_assert_int_eq(k - 1, 3);     /* two mappings of the segment, and the handle */
    k = 1;
    while (open_fails(O_CREAT, &countdown, k, ENOMEM, 0))
        k++;
    ck_assert_int_eq(k - 1, 2);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_an_error_and_leaves_nothing)
{
    ck_assert_int_eq(fairsem_shared_close(make_own_named(4, 0)), 0);
    /* Reads: the file's owner, its size, its header, and its identity. */
    for (int k = 1; k <= 4; k++)
        ck_assert(open_fails(0, &read_countdown, k, EIO, 0));
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
}
END_TEST

START_TEST(a_dump_without_memory_has_the_totals)
{
    fairsem_shared_t *h = make_segment(4, 0);

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    for (int k = 1; k >= 0; k--) {
        char text[4096] = "";
        FILE *file = fmemopen(text, sizeof text, "w");
        int error;

        countdown = k;
        error = fairsem_shared_dump(h, file);
        fclose(file);
        ck_assert_int_eq(error, k == 1 ? ENOMEM : 0);
        ck_assert_ptr_nonnull(strstr(text, "available 3 of 4, in use 1, held 1 (1 here)"));
        ck_assert((strstr(text, "holds 1 for") == NULL) == (k == 1));
    }
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

static int64_t others_see(fairsem_shared_t *h)
{
    pid_t child = fork();

    if (child == 0)
        _exit((int)fairsem_shared_available(h));
    return status_of(child);
}

/*
 * Open the file of own_name() again, as other_name.  At the search, other_name is still another file.  The
 * allocation `refused` fails, or none if it is 0.
 */
static int open_second(fairsem_shared_t **other, int refused)
{
    int error;

    name_them();
    ck_assert_int_eq(fairsem_shared_open(other, other_name, O_CREAT, 0600, &four), 0);
    ck_assert_int_eq(fairsem_shared_close(*other), 0);
    replaces = true;
    countdown = refused;
    error = fairsem_shared_open(other, other_name, 0, 0, NULL);
    replaces = false;
    return error;
}

/* A close of the second descriptor would release the liveness lock. */
START_TEST(a_segment_that_is_opened_under_a_second_name_stays_alive)
{
    for (int refused = 0; refused < 2; refused++) {
        fairsem_shared_t *h = make_own_named(4, 0), *other;

        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        ck_assert_int_eq(open_second(&other, refused), refused ? ENOMEM : 0);
        ck_assert_int_eq(others_see(h), 3);
        if (!refused) {
            ck_assert_ptr_eq(other, h);
            ck_assert_int_eq(fairsem_shared_close(other), 0);
            ck_assert_int_eq(others_see(h), 3);
        }
        ck_assert_int_eq(fairsem_shared_unlink(other_name), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

/* The program closes all descriptors that it does not know, and then other files get their numbers. */
START_TEST(close_does_not_close_other_files_that_have_the_numbers_of_its_descriptors)
{
    fairsem_shared_t *h = make_own_named(4, 0), *other;
    pid_t child;

    ck_assert_int_eq(open_second(&other, 0), 0);
    ck_assert_ptr_nonnull(h->spares);
    child = fork();
    if (child == 0) {
        int last = h->spares->fd > h->fd ? h->spares->fd : h->fd;

        for (int fd = 3; fd <= last; fd++) {
            close(fd);
            CHILD_CHECK(open("/dev/null", O_RDWR) == fd);
        }
        CHILD_CHECK(fairsem_shared_close(h) == 0 && fairsem_shared_close(h) == 0);
        for (int fd = 3; fd <= last; fd++)
            CHILD_CHECK(fcntl(fd, F_GETFD) >= 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_unlink(other_name), 0);
    ck_assert_int_eq(fairsem_shared_close(other), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* The file's owner is checked again when the file is open. */
START_TEST(a_file_of_another_user_that_comes_after_the_search_is_refused)
{
    fairsem_shared_t *h;

    if (geteuid() != 0)
        NOT_HERE("another user: only root can give a file away");
    name_them();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fairsem_shared_open(&h, i == 0 ? own_name() : other_name, O_CREAT, 0600, &four), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), FAIRSEM_SHARED_OWN, 0, NULL), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    ck_assert_int_eq(chown(other_path, 4711, 4711), 0);
    is_replaced = true;
    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), FAIRSEM_SHARED_OWN, 0, NULL), EPERM);
    is_replaced = false;
    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), 0, 0, NULL), 0);   /* without FAIRSEM_SHARED_OWN */
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared memory", an_open_without_memory_leaves_nothing,
              a_file_that_cannot_be_read_is_an_error_and_leaves_nothing,
              a_dump_without_memory_has_the_totals,
              a_segment_that_is_opened_under_a_second_name_stays_alive,
              close_does_not_close_other_files_that_have_the_numbers_of_its_descriptors,
              a_file_of_another_user_that_comes_after_the_search_is_refused);
}
