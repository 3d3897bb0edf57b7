/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - the calls of the kernel by the shared semaphore: files and their memory, liveness locks,
 * sleeping and waking.  (Clocks are in deadline.h, except for fs_tick_ns().)
 *
 * Tests that simulate several processes in one replace these functions.
 */
#ifndef FS_SHARED_KERNEL_H
#define FS_SHARED_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fs_file {
    dev_t   device;
    ino_t   inode;
    int64_t size;
    bool    regular;
    bool    ours;           /* only our effective user can write to the file, and it has no second name */
};

/*
 * The functions for files that return an int return 0 or an errno value.  No function of this header changes
 * errno.
 */

/* Inspect the file of this name, without opening it. */
int fs_file_find(const char *path, struct fs_file *file);
int fs_file_inspect(int fd, struct fs_file *file);
int fs_file_open(const char *path, int *fd);
/*
 * Make a file of this size without a name, on the file system of path.  If path is NULL, the file never gets
 * a name, and its size is sealed.
 */
int fs_file_make(const char *path, mode_t mode, int64_t size, int *fd);
/* Give the file a name.  Returns EEXIST if another file has this name. */
int fs_file_name(int fd, const char *path);
int fs_file_unlink(const char *path);
int fs_file_read(int fd, void *to, int64_t size);
int fs_file_map(int fd, int64_t size, void **memory);
void fs_file_unmap(void *memory, int64_t size);
void fs_file_close(int fd);
int fs_file_keep_on_exec(int fd, bool keep);

/*
 * Liveness locks (R3): each process has a record lock on one byte of the file.  The lock ends with the
 * process, even if its children have inherited the descriptor.  fs_liveness_lock() returns EAGAIN if another
 * process has the lock.
 */
int  fs_liveness_lock(int fd, int index);
void fs_liveness_unlock(int fd, int index);
/*
 * Set *locked: does another process have this lock?  Read locks do not count: any process that may read the
 * file can take read locks, and could make the dead seem alive.
 */
int  fs_liveness_test(int fd, int index, bool *locked);
/* Returns the PID of the process with this lock, or 0 if there is none in our PID namespace. */
int64_t fs_liveness_owner(int fd, int index);
/* Does this process have one of the `count` locks from `first` on?  fd may be any descriptor of the file. */
bool fs_liveness_is_ours(int fd, int first, int count);

int64_t fs_process_id(void);

/* CLOCK_MONOTONIC at the last tick of the kernel: cheap, and good enough for statistics. */
int64_t fs_tick_ns(void);

/*
 * Sleep while *word is `value`, for at most ns.  FS_SLEEP_WOKEN may be spurious; FS_SLEEP_NOT_WOKEN means a
 * signal, or another value.  A cancellation point if `cancelable`.
 */
enum fs_sleep { FS_SLEEP_WOKEN, FS_SLEEP_NOT_WOKEN, FS_SLEEP_TIME_OUT };
enum fs_sleep fs_shared_sleep(const _Atomic int *word, int value, int64_t ns, bool cancelable);
/* Wake up to `count` threads that sleep on the word, the longest sleepers first.  Returns how many it woke. */
int fs_shared_wake(const _Atomic int *word, int count);

#endif
