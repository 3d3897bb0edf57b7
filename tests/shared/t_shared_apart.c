/* SPDX-License-Identifier: MIT */
/*
 * t_shared_apart.c - several handles of one segment in one process, each treated like a process of its own.
 * ThreadSanitizer instruments only one process, so this is how it sees the accesses of all.
 *
 * In the library, a liveness lock is a record lock, which belongs to a process.  In this test it is a lock on
 * the open file description of the handle.
 */
#define _GNU_SOURCE             /* F_OFD_SETLK */
#include "crowd.h"

#include "shared/registry.h"
#include "system/deadline.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

int  __real_fs_file_map(int fd, int64_t size, void **memory);
int  __wrap_fs_file_map(int fd, int64_t size, void **memory);
void __wrap_fs_file_unmap(void *memory, int64_t size);
int  __wrap_fs_liveness_lock(int fd, int index);
void __wrap_fs_liveness_unlock(int fd, int index);
int  __wrap_fs_liveness_test(int fd, int index, bool *locked);

static int lock_liveness(int fd, int command, struct flock *lock, int type, int index)
{
    *lock = (struct flock){ .l_type = (short)type, .l_whence = SEEK_SET, .l_start = index,
                            .l_len = 1 };
    return fcntl(fd, command, lock) == 0 ? 0 : errno;
}

int __wrap_fs_liveness_lock(int fd, int index)
{
    struct flock lock;

    return lock_liveness(fd, F_OFD_SETLK, &lock, F_WRLCK, index);
}

void __wrap_fs_liveness_unlock(int fd, int index)
{
    struct flock lock;

    lock_liveness(fd, F_OFD_SETLK, &lock, F_UNLCK, index);
}

static _Atomic int asked;       /* number of checks of a liveness lock */

static bool slow_kernel;

int __wrap_fs_liveness_test(int fd, int index, bool *locked)
{
    struct flock lock;
    int error = lock_liveness(fd, F_OFD_GETLK, &lock, F_WRLCK, index);

    atomic_fetch_add(&asked, 1);
    if (slow_kernel)
        nap(1);
    *locked = error != 0 || lock.l_type != F_UNLCK;
    return error;
}

/* All handles use one mapping: with two, ThreadSanitizer would not see that both are the same memory. */
static void *shared_memory;

int __wrap_fs_file_map(int fd, int64_t size, void **memory)
{
    char itself[40];
    int error = 0, other;

    /*
     * The mapping keeps its open file description open, and the locks on it.  So map another one than fd's,
     * whose lock die() must release.
     */
    snprintf(itself, sizeof itself, "/proc/self/fd/%d", fd);
    if (shared_memory == NULL) {
        other = open(itself, O_RDWR);
        error = __real_fs_file_map(other, size, &shared_memory);
        close(other);
    }
    *memory = shared_memory;
    return error;
}

/* The mapping stays until the test ends. */
void __wrap_fs_file_unmap(void *memory, int64_t size)
{
    (void)memory;
    (void)size;
}

static fairsem_shared_t *open_apart(const fairsem_shared_attr_t *attr)
{
    fairsem_shared_t *h;

    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), O_CREAT, 0600, attr), 0);
    fs_shared_unregister(h);
    return h;
}

/* As if the process of this handle were killed: the liveness lock is gone, the stores to the segment stay. */
static void die(fairsem_shared_t *h)
{
    close(h->fd);
    memset(h, 0, sizeof *h);
    free(h);
}

START_TEST(each_handle_counts_as_a_process)
{
    const fairsem_shared_attr_t attr = { .units = 3 };
    fairsem_shared_t *a = open_apart(&attr), *b = open_apart(&attr);
    fairsem_shared_stat_t stat;

    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_acquire(a, 2), 0);
    ck_assert_int_eq(fairsem_shared_tryacquire(b, 2), EAGAIN);
    ck_assert_int_eq(fairsem_shared_release(b, 1), EPERM);
    ck_assert_int_eq(fairsem_shared_stat(b, &stat), 0);
    ck_assert(stat.processes == 2 && stat.held == 2 && stat.mine == 0);
    die(a);
    ck_assert_int_eq(fairsem_shared_acquire(b, 3), 0);
    ck_assert_int_eq(fairsem_shared_close(b), 0);
}
END_TEST

/* Each check tests one liveness lock, which takes 1 ms here.  The period of checks is ten times as long. */
START_TEST(short_waits_do_not_call_the_kernel_each_time)
{
    const fairsem_shared_attr_t attr = { .units = 1 };
    fairsem_shared_t *a = open_apart(&attr), *b = open_apart(&attr);
    int64_t start;

    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_acquire(a, 1), 0);
    slow_kernel = true;
    start = fs_now_ns();
    atomic_store(&asked, 0);
    for (int i = 0; i < 50; i++)
        ck_assert_int_eq(fairsem_shared_acquire_for(b, 1, 1000), ETIMEDOUT);
    ck_assert_int_le(atomic_load(&asked), 2 * (1 + (fs_now_ns() - start) / 10000000));
    slow_kernel = false;
    ck_assert_int_eq(fairsem_shared_close(a), 0);
    ck_assert_int_eq(fairsem_shared_close(b), 0);
}
END_TEST

#define HANDLES 3
#define ROUNDS  300

struct user {
    fairsem_shared_t *h;
    int64_t          *protected;    /* written by the thread that holds all units */
    int               wrong;
    unsigned          seed;
    fairsem_token_t   token;
    pthread_t         thread;
};

static void use(struct user *u, int64_t units)
{
    const fairsem_wait_t how = { .token = &u->token };
    int error;

    u->seed = u->seed * 1664525u + 1013904223u;
    switch (u->seed >> 29) {
    case 0:
        error = fairsem_shared_acquire_for(u->h, units, 100000);
        break;
    case 1:
        error = fairsem_shared_acquire_with(u->h, units, &how);
        break;
    case 2:
        error = fairsem_shared_available(u->h) >= 0 ? EAGAIN : 0;
        break;
    case 3:
        error = fairsem_shared_tryacquire(u->h, units);
        break;
    default:
        error = fairsem_shared_acquire(u->h, units);
    }
    if (error == 0) {
        ++*u->protected;
        if (fairsem_shared_release(u->h, units) != 0)
            u->wrong = __LINE__;
    } else if (error != EAGAIN && error != ETIMEDOUT && error != ECANCELED) {
        u->wrong = error;
    }
}

static void *use_often(void *arg)
{
    struct user *u = arg;

    for (int i = 0; i < ROUNDS; i++) {
        use(u, 2);
        if (i == ROUNDS / 2)
            fairsem_token_cancel(&u->token, 0);
    }
    return arg;
}

static void use_together(unsigned flags)
{
    const fairsem_shared_attr_t attr = { .units = 2, .flags = flags };
    struct user users[2 * HANDLES];
    int64_t protected = 0;

    for (int i = 0; i < 2 * HANDLES; i++) {
        users[i] = (struct user){ .h = i % 2 == 0 ? open_apart(&attr) : users[i - 1].h,
                                  .protected = &protected, .seed = (unsigned)i,
                                  .token = FAIRSEM_TOKEN_INITIALIZER };
    }
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    for (int i = 0; i < 2 * HANDLES; i++)
        ck_assert_int_eq(pthread_create(&users[i].thread, NULL, use_often, &users[i]), 0);
    for (int i = 0; i < 2 * HANDLES; i++)
        ck_assert_int_eq(pthread_join(users[i].thread, NULL), 0);
    for (int i = 0; i < 2 * HANDLES; i++)
        ck_assert_int_eq(users[i].wrong, 0);
    ck_assert_int_gt(protected, 0);
    ck_assert_int_eq(fairsem_shared_available(users[0].h), 2);
    for (int i = 0; i < 2 * HANDLES; i += 2)
        ck_assert_int_eq(fairsem_shared_close(users[i].h), 0);
}

START_TEST(a_holder_of_all_units_is_alone)
{
    use_together(0);
}
END_TEST

START_TEST(a_holder_of_all_units_is_alone_without_undo)
{
    use_together(FAIRSEM_SHARED_NO_UNDO);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared apart", each_handle_counts_as_a_process,
              short_waits_do_not_call_the_kernel_each_time, a_holder_of_all_units_is_alone,
              a_holder_of_all_units_is_alone_without_undo);
}
