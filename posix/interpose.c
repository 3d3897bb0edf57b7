/* SPDX-License-Identifier: MIT */
/*
 * interpose.c - the unnamed, process-private semaphores of a program that was not recompiled
 * (LD_PRELOAD, see fairsem-run(1)).
 *
 * What is not ours goes to libc untouched and is counted: semaphores between processes, named
 * ones, and every sem_t that was not initialised through us.
 *
 * Everything that a wait or a post may need is ready before: libc's functions, the map for
 * the statistics.  They use no memory, no stdio and no lock that a signal handler could find
 * taken by its own thread.
 */
#define _GNU_SOURCE
#include "records.h"
#include "sem_calls.h"
#include "slots.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
    int    (*init)(sem_t *, int, unsigned);
    int    (*destroy)(sem_t *);
    int    (*wait)(sem_t *);
    int    (*trywait)(sem_t *);
    int    (*timedwait)(sem_t *, const struct timespec *);
    int    (*clockwait)(sem_t *, clockid_t, const struct timespec *);
    int    (*post)(sem_t *);
    int    (*getvalue)(sem_t *, int *);
    sem_t *(*open)(const char *, int, ...);
} libc;

/* Where nobody asks for statistics, the few counters still need a place. */
static struct {
    _Atomic uint64_t created, shared, named, foreign, dead;
} uncounted;
static struct fs_records *records;  /* r/o after prepare(); NULL: no statistics */

#define COUNT(what)                                                                      \
    atomic_fetch_add_explicit(records != NULL ? &records->what : &uncounted.what, 1,     \
                              memory_order_relaxed)

/* Several pointers to functions as what dlsym returns. */
#define FIND(name)                                               \
    do {                                                         \
        void *found_ = dlsym(RTLD_NEXT, "sem_" #name);           \
        memcpy(&libc.name, &found_, sizeof found_);              \
    } while (0)

static void map_records(void)
{
    const char *path = getenv(FS_RECORDS_ENV);
    struct fs_records *map;
    int fd;

    if (path == NULL || (fd = open(path, O_RDWR | O_CLOEXEC)) < 0)
        return;
    map = mmap(NULL, sizeof *map, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return;
    if (map->version != FS_RECORDS_VERSION) {
        munmap(map, sizeof *map);
        return;
    }
    atomic_fetch_add(&map->processes, 1);
    records = map;
}

static void find_and_map(void)
{
    int before = errno;

    FIND(init);
    FIND(destroy);
    FIND(wait);
    FIND(trywait);
    FIND(timedwait);
    FIND(clockwait);
    FIND(post);
    FIND(getvalue);
    FIND(open);
    pthread_atfork(NULL, NULL, fs_slots_in_child);
    map_records();
    errno = before;
}

/* Once, before main; earlier if another library's constructor uses semaphores. */
static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_and_map);
}

__attribute__((constructor)) static void prepare_early(void)
{
    prepare();
}

/* ---- Statistics ---- */

/* Who called sem_init: "libfoo.so(make_lock+0x1f)". */
static void describe(const void *caller, char *text, size_t size)
{
    Dl_info info;
    const char *module;

    if (dladdr(caller, &info) == 0 || info.dli_fname == NULL) {
        snprintf(text, size, "%p", caller);
        return;
    }
    module = strrchr(info.dli_fname, '/');
    module = module != NULL ? module + 1 : info.dli_fname;
    if (info.dli_sname != NULL)
        snprintf(text, size, "%s(%s+0x%zx)", module, info.dli_sname,
                 (size_t)((const char *)caller - (const char *)info.dli_saddr));
    else
        snprintf(text, size, "%s+0x%zx", module,
                 (size_t)((const char *)caller - (const char *)info.dli_fbase));
}

static struct fs_record *new_record(const sem_t *sem, const void *caller)
{
    struct fs_record *r;
    uint32_t at;

    if (records == NULL)
        return NULL;
    at = atomic_fetch_add(&records->used, 1);
    if (at >= FS_RECORDS_MOST) {
        atomic_fetch_sub(&records->used, 1);
        return NULL;
    }
    r = &records->record[at];
    atomic_store_explicit(&r->address, (uintptr_t)sem, memory_order_relaxed);
    describe(caller, r->creator, sizeof r->creator);
    atomic_store_explicit(&r->pid, (int32_t)getpid(), memory_order_release);
    return r;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void add_wait(struct fs_waited *waited, uint64_t ns)
{
    uint64_t max = atomic_load_explicit(&waited->ns_max, memory_order_relaxed);

    atomic_fetch_add_explicit(&waited->waits, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&waited->ns_total, ns, memory_order_relaxed);
    while (ns > max && !atomic_compare_exchange_weak(&waited->ns_max, &max, ns))
        continue;
}

/* ---- The functions ---- */

static int slow(struct fs_slot *slot, clockid_t clock, const struct timespec *deadline)
{
    struct fs_record *record = slot->record;
    uint64_t start;
    int result;

    if (records == NULL)
        return fs_sem_wait_slow(&slot->sem, clock, deadline);
    start = now_ns();
    result = fs_sem_wait_slow(&slot->sem, clock, deadline);
    if (result == 0) {
        uint64_t ns = now_ns() - start;

        add_wait(&records->waited, ns);
        if (record != NULL)
            add_wait(&record->waited, ns);
    }
    return result;
}

/* Not ours: does libc get the call?  If not, errno is set, for the result -1. */
static bool pass_through(enum fs_slot_kind kind)
{
    if (kind == FS_SLOT_DEAD) {
        COUNT(dead);
        errno = EINVAL;
        return false;
    }
    prepare();
    COUNT(foreign);
    return true;
}

EXPORT int sem_init(sem_t *sem, int pshared, unsigned value)
{
    struct fs_slot *slot;

    prepare();
    if (value > SEM_VALUE_MAX) {
        errno = EINVAL;
        return -1;
    }
    if (pshared != 0) {
        COUNT(shared);
        return libc.init(sem, pshared, value);
    }
    slot = fs_slot_take();
    if (slot == NULL) {
        errno = ENOSPC;
        return -1;
    }
    if (fs_sem_init(&slot->sem, value) != 0) {
        fs_slot_give_back(slot);
        return -1;
    }
    slot->record = new_record(sem, __builtin_return_address(0));
    COUNT(created);
    fs_slot_publish(slot, sem);
    return 0;
}

/* With waiters libc's does nothing, and all goes on working: so does ours. */
EXPORT int sem_destroy(sem_t *sem)
{
    struct fs_slot *slot;
    enum fs_slot_kind kind = fs_slot_find(sem, &slot);
    int before = errno;

    if (kind != FS_SLOT_OURS)
        return pass_through(kind) ? libc.destroy(sem) : -1;
    if (fs_sem_destroy(&slot->sem) == 0)
        fs_slot_retire(slot, sem);
    errno = before;
    return 0;
}

EXPORT int sem_wait(sem_t *sem)
{
    struct fs_slot *slot;
    enum fs_slot_kind kind = fs_slot_find(sem, &slot);

    if (kind != FS_SLOT_OURS)
        return pass_through(kind) ? libc.wait(sem) : -1;
    return fs_sem_wait_fast(&slot->sem) ? 0 : slow(slot, CLOCK_REALTIME, NULL);
}

EXPORT int sem_trywait(sem_t *sem)
{
    struct fs_slot *slot;
    enum fs_slot_kind kind = fs_slot_find(sem, &slot);

    if (kind != FS_SLOT_OURS)
        return pass_through(kind) ? libc.trywait(sem) : -1;
    return fs_sem_trywait(&slot->sem);
}

static int wait_until(struct fs_slot *slot, clockid_t clock, const struct timespec *deadline)
{
    int error = fs_sem_check_deadline(clock, deadline);

    if (error != 0)
        return fs_sem_result(error);
    return fs_sem_wait_fast(&slot->sem) ? 0 : slow(slot, clock, deadline);
}

EXPORT int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict deadline)
{
    struct fs_slot *slot;
    enum fs_slot_kind kind = fs_slot_find(sem, &slot);

    if (kind != FS_SLOT_OURS)
        return pass_through(kind) ? libc.timedwait(sem, deadline) : -1;
    return wait_until(slot, CLOCK_REALTIME, deadline);
}

EXPORT int sem_clockwait(sem_t *restrict sem, clockid_t clock,
                         const struct timespec *restrict deadline)
{
    struct fs_slot *slot;
    enum fs_slot_kind kind = fs_slot_find(sem, &slot);

    if (kind != FS_SLOT_OURS)
        return pass_through(kind) ? libc.clockwait(sem, clock, deadline) : -1;
    return wait_until(slot, clock, deadline);
}

EXPORT int sem_post(sem_t *sem)
{
    struct fs_slot *slot;
    enum fs_slot_kind kind = fs_slot_find(sem, &slot);

    if (kind != FS_SLOT_OURS)
        return pass_through(kind) ? libc.post(sem) : -1;
    return fs_sem_post(&slot->sem);
}

EXPORT int sem_getvalue(sem_t *restrict sem, int *restrict value)
{
    struct fs_slot *slot;
    enum fs_slot_kind kind = fs_slot_find(sem, &slot);

    if (kind != FS_SLOT_OURS)
        return pass_through(kind) ? libc.getvalue(sem, value) : -1;
    return fs_sem_getvalue(&slot->sem, value);
}

/* Only to count it: what it returns is libc's, and recognised as such. */
EXPORT sem_t *sem_open(const char *name, int oflag, ...)
{
    va_list args;
    mode_t mode = 0;
    unsigned value = 0;

    prepare();
    COUNT(named);
    if ((oflag & O_CREAT) != 0) {
        va_start(args, oflag);
        mode = va_arg(args, mode_t);
        value = va_arg(args, unsigned);
        va_end(args);
    }
    return libc.open(name, oflag, mode, value);
}
