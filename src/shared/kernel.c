/* SPDX-License-Identifier: MIT */
/* kernel.c - files, record locks and futexes of Linux; see kernel.h. */
#define _GNU_SOURCE             /* memfd_create, O_TMPFILE, O_PATH, fallocate */
#include "shared/kernel.h"

#include "system/futex.h"
#include "tools/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Shared between processes: no FUTEX_PRIVATE_FLAG. */
#define FUTEX_WAIT_SHARED 0
#define FUTEX_WAKE_SHARED 1

#define NS_PER_S 1000000000

/* Returns the error of a call that may have failed, and restores errno. */
static int outcome(bool failed, int before)
{
    int error = failed ? errno : 0;

    errno = before;
    return error;
}

/* ---- Files ---- */

static void describe(const struct stat *st, struct fs_file *file)
{
    *file = (struct fs_file){ st->st_dev, st->st_ino, st->st_size, S_ISREG(st->st_mode),
                              st->st_uid == geteuid() && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0
                              && st->st_nlink <= 1 };
}

int fs_file_find(const char *path, struct fs_file *file)
{
    struct stat st;
    int before = errno, error = outcome(lstat(path, &st) != 0, before);

    if (error == 0)
        describe(&st, file);
    return error;
}

int fs_file_inspect(int fd, struct fs_file *file)
{
    struct stat st;
    int before = errno, error = outcome(fstat(fd, &st) != 0, before);

    if (error == 0)
        describe(&st, file);
    return error;
}

/*
 * No segment may get the descriptor 0, 1 or 2: a program without standard output would print into the
 * segment.  So before an open, occupy the free ones of these numbers with descriptors that can be neither
 * read nor written (O_PATH).  A dup() after the open would not help: closing the first descriptor would
 * release the process's locks on the file.
 */
static void occupy_standard(int occupied[3])
{
    for (int i = 0; i < 3; i++)
        occupied[i] = fcntl(i, F_GETFD) < 0 ? open("/", O_PATH | O_CLOEXEC) : -1;
}

static void leave_standard(const int occupied[3])
{
    for (int i = 0; i < 3; i++) {
        /* Another thread may have replaced this descriptor, by dup2(). */
        if (occupied[i] >= 0 && (fcntl(occupied[i], F_GETFL) & O_PATH) != 0)
            fs_file_close(occupied[i]);
    }
}

int fs_file_open(const char *path, int *fd)
{
    int before = errno, occupied[3], error;

    occupy_standard(occupied);
    *fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    error = outcome(*fd < 0, before);
    leave_standard(occupied);
    return error == EAGAIN ? EACCES : error;    /* EAGAIN if a process has a lease on the file */
}

/* Used on file systems without fallocate, such as ramfs. */
static int write_zeros(int fd, int64_t size)
{
    static const char zeros[4096];

    for (int64_t done = 0; done < size;) {
        size_t part = size - done < (int64_t)sizeof zeros ? (size_t)(size - done) : sizeof zeros;
        ssize_t written = pwrite(fd, zeros, part, done);

        if (written <= 0)
            return -1;
        done += written;
    }
    return 0;
}

/*
 * Allocate the memory of a file, so that a lack of memory is an error now, and not a SIGBUS later.  Signals
 * are blocked: SIGXFSZ from a limit of file sizes (ulimit -f) would end the process, and any other signal
 * would make tmpfs give up.
 */
static int allocate(int fd, int64_t size)
{
    static const struct timespec at_once;
    sigset_t all, too_large, before, pending;
    int result;

    sigfillset(&all);
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    result = fallocate(fd, 0, 0, size);
    if (result != 0 && errno == EOPNOTSUPP)
        result = write_zeros(fd, size);
    if (result != 0 && errno == EFBIG) {
        if (!sigismember(&pending, SIGXFSZ))
            sigtimedwait(&too_large, NULL, &at_once);
        errno = EFBIG;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

/*
 * Take the read permission from users without write permission: with read locks on the liveness bytes they
 * could keep new processes out (R3).
 */
static mode_t without_readers(mode_t mode)
{
    return mode & (0333 | (mode & 0222) << 1);
}

/*
 * Make a file without a name on the file system of the path.  Fails with ENODEV if that file system does
 * not support O_TMPFILE.
 */
static int make_beside(const char *path, mode_t mode)
{
    char directory[PATH_MAX];
    size_t length = (size_t)(strrchr(path, '/') - path);
    int fd;

    memcpy(directory, path, length);
    memcpy(directory + length, "/", 2);
    fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
        errno = ENODEV;
    return fd;
}

static int make(const char *path, mode_t mode, int64_t size)
{
    int fd;

    if (path == NULL)
        fd = memfd_create("fairsem", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    else
        fd = make_beside(path, mode);
    if (fd < 0)
        return -1;
    if ((path == NULL || fchmod(fd, without_readers(mode)) == 0)    /* the umask must not limit the mode */
        && allocate(fd, size) == 0
        && (path != NULL || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0))
        return fd;
    fs_file_close(fd);
    return -1;
}

int fs_file_make(const char *path, mode_t mode, int64_t size, int *fd)
{
    int before = errno, occupied[3], error;

    occupy_standard(occupied);
    *fd = make(path, mode, size);
    error = outcome(*fd < 0, before);
    leave_standard(occupied);
    return error;
}

/* AT_EMPTY_PATH is for systems without /proc; older kernels allow it only to the superuser. */
int fs_file_name(int fd, const char *path)
{
    char itself[40];
    int before = errno, result;

    snprintf(itself, sizeof itself, "/proc/self/fd/%d", fd);
    result = linkat(AT_FDCWD, itself, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    if (result != 0 && errno == ENOENT)
        result = linkat(fd, "", AT_FDCWD, path, AT_EMPTY_PATH);
    return outcome(result != 0, before);
}

int fs_file_unlink(const char *path)
{
    int before = errno;

    return outcome(unlink(path) != 0, before);
}

int fs_file_read(int fd, void *to, int64_t size)
{
    int before = errno;
    ssize_t got = pread(fd, to, (size_t)size, 0);
    int error = outcome(got < 0, before);

    return error == 0 && got != size ? EIO : error;
}

int fs_file_map(int fd, int64_t size, void **memory)
{
    int before = errno;

    *memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    /* EAGAIN means the limit of locked memory, after mlockall(). */
    if (*memory == MAP_FAILED && errno == EAGAIN)
        errno = ENOMEM;
    return outcome(*memory == MAP_FAILED, before);
}

void fs_file_unmap(void *memory, int64_t size)
{
    int before = errno;

    munmap(memory, (size_t)size);
    errno = before;
}

void fs_file_close(int fd)
{
    int before = errno;

    close(fd);
    errno = before;
}

int fs_file_keep_on_exec(int fd, bool keep)
{
    int before = errno;

    return outcome(fcntl(fd, F_SETFD, keep ? 0 : FD_CLOEXEC) != 0, before);
}

/* ---- Liveness locks ---- */

static struct flock liveness_lock_of(int index, int type)
{
    return (struct flock){ .l_type = (short)type, .l_whence = SEEK_SET, .l_start = index,
                           .l_len = 1 };
}

int fs_liveness_lock(int fd, int index)
{
    struct flock lock = liveness_lock_of(index, F_WRLCK);
    int before = errno, error = outcome(fcntl(fd, F_SETLK, &lock) != 0, before);

    return error == EACCES ? EAGAIN : error;
}

void fs_liveness_unlock(int fd, int index)
{
    struct flock lock = liveness_lock_of(index, F_UNLCK);
    int before = errno;

    fcntl(fd, F_SETLK, &lock);
    errno = before;
}

int64_t fs_liveness_owner(int fd, int index)
{
    struct flock lock = liveness_lock_of(index, F_RDLCK);
    int before = errno;
    bool found = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK && lock.l_pid > 0;

    errno = before;
    return found ? lock.l_pid : 0;
}

/* F_GETLK with F_RDLCK reports only write locks. */
int fs_liveness_test(int fd, int index, bool *locked)
{
    struct flock lock = liveness_lock_of(index, F_RDLCK);
    int before = errno, error = outcome(fcntl(fd, F_GETLK, &lock) != 0, before);

    *locked = error != 0 || lock.l_type != F_UNLCK;
    return error;
}

/*
 * F_GETLK does not report the locks of the calling process.  F_OFD_GETLK does: these locks conflict with
 * a lock of the open file description.
 */
bool fs_liveness_is_ours(int fd, int first, int count)
{
    int before = errno;
    bool found = false;

    for (int i = first; i < first + count && !found; i++) {
        struct flock lock = liveness_lock_of(i, F_WRLCK);

        if (fcntl(fd, F_OFD_GETLK, &lock) != 0)
            break;
        found = lock.l_type != F_UNLCK && lock.l_pid == getpid();
    }
    errno = before;
    return found;
}

int64_t fs_process_id(void)
{
    return getpid();
}

/* ---- Sleeping and waking ---- */

int64_t fs_tick_ns(void)
{
    struct timespec now = { 0 };
    int before = errno;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    errno = before;
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* As fs_park_on_word() for a word that processes share; see there for the cancellation type. */
FS_NOT_INLINE FS_NO_TSAN
enum fs_sleep fs_shared_sleep(const _Atomic int *word, int value, int64_t ns, bool cancelable)
{
    struct timespec longest = { .tv_sec = (time_t)(ns / NS_PER_S),
                                .tv_nsec = (long)(ns % NS_PER_S) };
    int before = errno, deferred = 0, async;
    enum fs_sleep end = FS_SLEEP_WOKEN;

    if (cancelable)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &deferred);
    if (fs_futex_wait(word, FUTEX_WAIT_SHARED, value, &longest, 0) != 0)
        end = errno == ETIMEDOUT ? FS_SLEEP_TIME_OUT : FS_SLEEP_NOT_WOKEN;
    if (cancelable)
        pthread_setcanceltype(deferred, &async);
    errno = before;
    return end;
}

int fs_shared_wake(const _Atomic int *word, int count)
{
    int before = errno;
    long woken = syscall(SYS_futex, word, FUTEX_WAKE_SHARED, count, NULL, NULL, 0);

    errno = before;
    return woken > 0 ? (int)woken : 0;
}
