/* SPDX-License-Identifier: MIT */
/*
 * interpose.c - replace libc's functions for the unnamed, process-private semaphores of a program
 * that was not recompiled (LD_PRELOAD, see fairsem-run(1)).
 *
 * Other semaphores are passed through to libc untouched, and counted: process-shared ones, named
 * ones, and every sem_t that was not initialized through this module.
 *
 * libc's functions and the map for the statistics are ready before the first wait or post.  So a
 * wait and a post use no malloc, no stdio and no lock that a signal handler could find taken by its
 * own thread.
 */
#define _GNU_SOURCE
#include "record.h"
#include "sem_calls.h"
#include "slots.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

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

/* ISO C does not convert what dlsym returns to a pointer to a function: copy the bytes. */
#define FIND(name)                                               \
    do {                                                         \
        void *found_ = dlsym(RTLD_NEXT, "sem_" #name);           \
        memcpy(&libc.name, &found_, sizeof found_);              \
    } while (0)

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
    fs_records_map();
    errno = before;
}

/* It runs once: before main, or earlier if the constructor of a library uses semaphores. */
static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_and_map);
}

__attribute__((constructor)) static void prepare_early(void)
{
    prepare();
}

static int slow(struct fs_slot *slot, clockid_t clock, const struct timespec *deadline)
{
    struct fs_record *record = slot->record;
    uint64_t start = fs_record_start();
    int result = fs_sem_wait_slow(&slot->sem, clock, deadline);

    if (result == 0)
        fs_record_wait(record, start);
    return result;
}

/* The semaphore is not ours.  True: call libc.  False: errno is set, return -1. */
static bool pass_through(enum fs_slot_kind kind)
{
    if (kind == FS_SLOT_DEAD) {
        FS_COUNT(dead);
        errno = EINVAL;
        return false;
    }
    prepare();
    FS_COUNT(foreign);
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
        FS_COUNT(shared);
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
    slot->record = fs_record_new(sem, __builtin_return_address(0));
    FS_COUNT(created);
    fs_slot_publish(slot, sem);
    return 0;
}

/*
 * While threads wait, libc's sem_destroy does nothing, and they can still be woken.  So does ours.
 *
 * The semaphore in the slot is not destroyed.  The slot stays mapped, and a call in another thread
 * may have found it a moment before; libc would let that call pass, so it must find a semaphore
 * there.  fairsem_stat takes the mutex, so a release that has granted our caller is out of it.
 */
EXPORT int sem_destroy(sem_t *sem)
{
    struct fs_slot *slot;
    enum fs_slot_kind kind = fs_slot_find(sem, &slot);
    fairsem_stat_t stat;

    if (kind != FS_SLOT_OURS)
        return pass_through(kind) ? libc.destroy(sem) : -1;
    fairsem_stat(&slot->sem, &stat);
    if (stat.waiters == 0)
        fs_slot_retire(slot, sem);
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

/* This only counts.  The result is libc's, and other calls recognize it as such. */
EXPORT sem_t *sem_open(const char *name, int oflag, ...)
{
    va_list args;
    mode_t mode = 0;
    unsigned value = 0;

    prepare();
    FS_COUNT(named);
    if ((oflag & O_CREAT) != 0) {
        va_start(args, oflag);
        mode = va_arg(args, mode_t);
        value = va_arg(args, unsigned);
        va_end(args);
    }
    return libc.open(name, oflag, mode, value);
}
