/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - the kernel of the simulated processes; replaces src/shared/kernel.c.
 *
 * The memory of all files is one block, which each process maps at a different address.  There is only one file
 * name.  Record locks are those of POSIX: they belong to a process and a file, and the process loses them when
 * it closes any descriptor of the file.
 */
#define _GNU_SOURCE             /* memfd_create */
#include "explorer.h"

#include "shared/kernel.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA   UINT64_C(0x200000000000)
#define STRIDE  UINT64_C(0x100000)      /* distance of the addresses of two files: far larger than a file */

static int memory_fd;
static char *all_files;         /* where the explorer itself accesses the files */

static char *address(int root, int file)
{
    return (char *)(uintptr_t)(ARENA + (uint64_t)(root * FILES + file) * STRIDE);
}

/*
 * Make the memory of the files.  Called in each real process of the explorer (--jobs): a fork would share it.
 */
static void map_memory(void)
{
    memory_fd = memfd_create("explorer", 0);
    if (memory_fd < 0 || ftruncate(memory_fd, FILES * SEGMENT_SIZE) != 0)
        exit(99);
    all_files = mmap(NULL, FILES * SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
    for (int i = 0; i < PROCESSES * FILES; i++) {
        if (mmap(address(0, i), SEGMENT_SIZE, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, memory_fd, i % FILES * SEGMENT_SIZE)
            == MAP_FAILED)
            exit(99);
    }
}

void kernel_start(void)
{
    map_memory();
    pthread_atfork(NULL, NULL, map_memory);
}

char *kernel_memory(int file)
{
    return all_files + (size_t)file * SEGMENT_SIZE;
}

int kernel_file_of(const void *at, size_t size, size_t *offset)
{
    uint64_t from = (uint64_t)(uintptr_t)at - ARENA;
    const struct process *p = &run.process[self->process];
    int file = (int)(from / STRIDE % FILES);

    if (from >= PROCESSES * FILES * STRIDE)
        return -1;
    *offset = from % STRIDE;
    if ((int)(from / STRIDE / FILES) != p->root || (p->mapped >> file & 1) == 0)
        fail("segment", "T%d accesses memory that it has not mapped", id_of(self));
    if (*offset + size > (size_t)run.file[file].size)
        fail("segment", "T%d has an access outside the segment", id_of(self));
    return file;
}

/* ---- Files ---- */

static struct descriptor *descriptor(int fd)
{
    static struct descriptor none;
    struct process *p = &run.process[self->process];

    none = (struct descriptor){ 0 };
    return fd >= 0 && fd < DESCRIPTORS ? &p->fd[fd] : &none;
}

/* The file of an open descriptor.  To use a closed descriptor is an error of the library. */
static int file_of(int fd)
{
    if (descriptor(fd)->file == 0)
        fail("descriptors", "T%d uses a descriptor that is not open", id_of(self));
    return descriptor(fd)->file - 1;
}

static int open_descriptor(int file)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        if (descriptor(fd)->file == 0) {
            *descriptor(fd) = (struct descriptor){ .file = file + 1 };
            return fd;
        }
    }
    fail("explorer", "too many descriptors");
}

static int named(void)
{
    for (int i = 0; i < FILES; i++) {
        if (run.file[i].named)
            return i;
    }
    return -1;
}

static void describe(int file, struct fs_file *to)
{
    *to = (struct fs_file){ 1, (ino_t)file + 1, run.file[file].size, true, true };
}

static void contact(unsigned what_for, const char *doing)
{
    stop(READY, CAN_SWITCH | what_for, doing, NULL);
}

int fs_file_find(const char *path, struct fs_file *file)
{
    (void)path;
    contact(0, "looks for the name");
    if (named() < 0)
        return ENOENT;
    describe(named(), file);
    return 0;
}

int fs_file_inspect(int fd, struct fs_file *file)
{
    describe(file_of(fd), file);
    return 0;
}

int fs_file_open(const char *path, int *fd)
{
    (void)path;
    contact(CAN_DIE, "opens the name");
    if (named() < 0)
        return ENOENT;
    *fd = open_descriptor(named());
    return 0;
}

int fs_file_make(const char *path, mode_t mode, int64_t size, int *fd)
{
    (void)path;
    (void)mode;
    contact(CAN_DIE, "makes a file");
    for (int i = 0; i < FILES; i++) {
        if (!run.file[i].made) {
            if (size > SEGMENT_SIZE)
                fail("explorer", "the segment is too large");
            run.file[i] = (struct file){ .made = true, .size = size };
            memset(kernel_memory(i), 0, SEGMENT_SIZE);
            *fd = open_descriptor(i);
            return 0;
        }
    }
    fail("explorer", "too many files");
}

int fs_file_name(int fd, const char *path)
{
    (void)path;
    contact(CAN_DIE, "names the file");
    if (named() >= 0)
        return EEXIST;
    run.file[file_of(fd)].named = true;
    run.named++;
    return 0;
}

int fs_file_unlink(const char *path)
{
    (void)path;
    contact(CAN_DIE, "removes the name");
    if (named() < 0)
        return ENOENT;
    for (int i = 0; i < PROCESSES && script[id_of(self)][self->op].verb == DROP; i++) {
        if (run.sure || (i != self->process && run.process[i].sure && run.process[i].held > 0))
            fail("name", "T%d removes the name of a segment that P%d has units of, or that was resized",
                 id_of(self), i);
    }
    run.file[named()].named = false;
    return 0;
}

int fs_file_read(int fd, void *to, int64_t size)
{
    memcpy(to, kernel_memory(file_of(fd)), (size_t)size);
    return 0;
}

int fs_file_map(int fd, int64_t size, void **memory)
{
    int file = file_of(fd);

    if (size != run.file[file].size)
        fail("segment", "T%d maps a size other than the file's", id_of(self));
    run.process[self->process].mapped |= 1u << file;
    *memory = address(run.process[self->process].root, file);
    return 0;
}

void fs_file_unmap(void *memory, int64_t size)
{
    size_t offset;
    int file = kernel_file_of(memory, (size_t)size, &offset);

    run.process[self->process].mapped &= ~(1u << file);
}

static void drop_locks(int process, int file)
{
    for (int i = 0; i < BYTES; i++) {
        if (run.file[file].liveness[i] == process + 1)
            run.file[file].liveness[i] = 0;
    }
}

void fs_file_close(int fd)
{
    int file = file_of(fd);

    contact(CAN_DIE, "closes a descriptor");
    descriptor(fd)->file = 0;
    drop_locks(self->process, file);
}

int fs_file_keep_on_exec(int fd, bool keep)
{
    contact(CAN_DIE, "changes a descriptor");
    file_of(fd);
    descriptor(fd)->stays_open = keep;
    return 0;
}

void kernel_loses(int process)
{
    for (int i = 0; i < FILES; i++)
        drop_locks(process, i);
}

bool kernel_closes_all(int process, bool exec)
{
    bool any = false;

    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        struct descriptor *d = &run.process[process].fd[fd];

        any |= d->file != 0 && exec && d->stays_open;
        if (d->file == 0 || (exec && d->stays_open))
            continue;
        drop_locks(process, d->file - 1);
        d->file = 0;
    }
    return any;
}

/* ---- Liveness locks ---- */

static int *liveness(int fd, int index)
{
    if (index < 0 || index >= BYTES)
        fail("liveness", "T%d asks about liveness lock %d", id_of(self), index);
    return &run.file[file_of(fd)].liveness[index];
}

int fs_liveness_lock(int fd, int index)
{
    contact(CAN_DIE | ASKS_WHO_LIVES, "takes a liveness lock");
    if (*liveness(fd, index) != 0 && *liveness(fd, index) != self->process + 1)
        return EAGAIN;
    *liveness(fd, index) = self->process + 1;
    return 0;
}

void fs_liveness_unlock(int fd, int index)
{
    contact(CAN_DIE, "releases its liveness lock");
    if (*liveness(fd, index) == self->process + 1)
        *liveness(fd, index) = 0;
}

int fs_liveness_test(int fd, int index, bool *locked)
{
    contact(ASKS_WHO_LIVES, "asks which processes live");
    *locked = *liveness(fd, index) != 0 && *liveness(fd, index) != self->process + 1;
    return 0;
}

int64_t fs_liveness_owner(int fd, int index)
{
    contact(0, "asks who has a liveness lock");
    return *liveness(fd, index);
}

bool fs_liveness_is_ours(int fd, int first, int count)
{
    contact(0, "asks for its own liveness locks");
    for (int i = first; i < first + count && i < BYTES; i++) {
        if (*liveness(fd, i) == self->process + 1)
            return true;
    }
    return false;
}

int64_t fs_process_id(void)
{
    return 100 + self->process;
}

int64_t fs_tick_ns(void)
{
    return run.now;
}

/* ---- Sleeping and waking: a word is known by its place in all_files, alike for all processes ---- */

static const char *place_in_file(const _Atomic int *word)
{
    size_t offset;
    int file = kernel_file_of((const void *)word, sizeof *word, &offset);

    return kernel_memory(file) + offset;
}

enum fs_sleep fs_shared_sleep(const _Atomic int *word, int value, int64_t ns, bool cancelable)
{
    stop(READY, CAN_SWITCH, "is about to sleep", word);
    if (*(const volatile int *)(const volatile void *)word != value)
        return FS_SLEEP_NOT_WOKEN;
    self->value = value;
    sleep_until_woken(place_in_file(word), ns, cancelable, "sleeps");
    if (!self->time_passed)
        return FS_SLEEP_WOKEN;
    return scenario->interrupted ? FS_SLEEP_NOT_WOKEN : FS_SLEEP_TIME_OUT;
}

int fs_shared_wake(const _Atomic int *word, int count)
{
    const char *at = place_in_file(word);
    int woken = 0;

    stop(READY, CAN_SWITCH | CAN_DIE, "wakes", word);
    for (; woken < count; woken++) {
        struct thread *sleeper[THREADS];
        int n = 0;

        for (int i = 0; i < THREADS; i++) {
            if (thread[i].at == SLEEPS && thread[i].object == at && !thread[i].woken)
                sleeper[n++] = &thread[i];
        }
        if (n == 0)
            break;
        sleeper[quiet ? 0 : choose(n)]->woken = true;
    }
    return woken;
}
