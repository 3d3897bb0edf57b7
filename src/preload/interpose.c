/* SPDX-License-Identifier: MIT */
/*
 * interpose.c - replace libc's functions for the unnamed, process-private semaphores of a program
 * that was not recompiled (LD_PRELOAD, see fairsem-run(1)).
 *
 * cells.h describes the sem_t of such a program.  The module also replaces
 *
 *      sigaction() and others      actions.c: no handler runs in a critical section, see handlers.c
 *      siglongjmp() and others     jumps.c: a handler may leave a wait by a jump
 *      _Fork()                     libc's _Fork() does not run the handlers of pthread_atfork()
 *
 * Other semaphores are passed through to libc untouched, and counted: process-shared ones, named ones, and
 * every sem_t that was not initialized through this module.
 *
 * Before the first wait or post, libc's functions are found, and the file of the statistics is mapped.  So a
 * wait and a post use no malloc, no stdio and no lock that a signal handler could find taken by its own thread.
 */
#define _GNU_SOURCE
#include "actions.h"
#include "cells.h"
#include "handlers.h"
#include "jumps.h"
#include "next.h"
#include "posix/sem_calls.h"
#include "priority.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

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
    pid_t  (*fork)(void);       /* NULL if libc has no _Fork() */
} libc;

#define FIND(name) fs_find_next(&libc.name, "sem_" #name)

static void in_child(void)
{
    fs_actions_in_child();
    fs_cells_in_child();
    fs_handlers_in_child();     /* last: until then, a signal calls after_fork() before its handler runs */
}

/*
 * fs_forked() is also the library's own handler of pthread_atfork(), which may run later.  A signal handler
 * that runs before fs_forked() would find mutexes that the parent's threads had locked, and wait for ever.
 */
static void after_fork(void)
{
    fs_forked();
    in_child();
}

static _Atomic bool libcs_found;

/*
 * Find only functions that every glibc has.  For a missing function, dlsym() calls malloc(), which may call
 * this module.
 */
static void find_libcs(void)
{
    FIND(init);
    FIND(destroy);
    FIND(wait);
    FIND(trywait);
    FIND(timedwait);
    FIND(post);
    FIND(getvalue);
    FIND(open);
}

static void map_and_hook(void)
{
    static const struct fs_signal_hooks guard = {
        .enter = fs_section_enter,
        .leave = fs_section_leave,
        .begin_wait = fs_wait_begins,
        .end_wait = fs_wait_ends,
    };

    FIND(clockwait);
    fs_find_next(&libc.fork, "_Fork");
    fs_signal_hooks = &guard;
    fs_actions_prepare();
    fs_jumps_prepare();
    fs_priority_prepare();
    fs_cells_prepare();
    pthread_atfork(NULL, NULL, after_fork);
    fs_handlers_prepare(after_fork);
    fs_records_map();
}

/*
 * Make the module ready, once: before main, or earlier if the constructor of a library uses semaphores.
 * Returns false while another call is preparing the module; meanwhile all semaphores are libc's.
 *
 * This call does not wait for the preparing call, which may be further up on the same stack.  The preparing
 * call uses getenv(), mmap() and malloc().  These functions may be those of another preloaded library.  Their
 * first call may initialize that library, which may use semaphores, perhaps in another thread.
 */
static bool prepare(void)
{
    enum { UNPREPARED, BEGUN, READY };
    static _Atomic int state;
    int now = atomic_load_explicit(&state, memory_order_acquire), before;

    if (now == READY)
        return true;
    before = errno;
    fs_find_once(&libcs_found, find_libcs);
    if (now == UNPREPARED && atomic_compare_exchange_strong(&state, &now, BEGUN)) {
        map_and_hook();
        atomic_store_explicit(&state, READY, memory_order_release);
        now = READY;
    }
    errno = before;
    return now == READY;
}

__attribute__((constructor)) static void prepare_early(void)
{
    (void)prepare();
}

/*
 * libc's _Fork() runs no fork handlers in the child, and may copy a section that another thread is in.  Calls
 * of _Fork() inside libc do not use this wrapper.
 */
EXPORT pid_t _Fork(void)
{
    pid_t pid;

    (void)prepare();
    if (libc.fork == NULL) {
        errno = ENOSYS;
        return -1;
    }
    pid = libc.fork();
    if (pid == 0)
        after_fork();
    return pid;
}

/*
 * Count a call for a sem_t that is not a semaphore of this module.  Returns true if libc must be called, or
 * sets errno and returns false if the sem_t refers to no valid cell.
 */
static bool pass_through(enum fs_cell_kind kind)
{
    if (kind == FS_IS_DANGLING) {
        FS_COUNT(dangling);
        errno = EINVAL;
        return false;
    }
    (void)prepare();
    if (!fs_only_counts())
        FS_COUNT(unknown);
    return true;
}

/* ---- The fast paths: a plain semaphore is a number, and has no waiters ---- */

/* Acquire order: the caller must see all that another thread wrote before it posted this unit. */
static bool take_plain(sem_t *sem)
{
    struct fs_in_place *in = fs_in_place(sem);
    uint64_t word = atomic_load_explicit(&in->word, memory_order_relaxed);

    while (fs_is_plain(word) && (uint32_t)word != 0) {
        if (atomic_compare_exchange_weak_explicit(&in->word, &word, word - 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

/*
 * Release order, for take_plain().  The compare-and-swap is the last access, because after the post, another
 * thread may free *sem.
 */
static bool post_plain(sem_t *sem)
{
    struct fs_in_place *in = fs_in_place(sem);
    uint64_t word = atomic_load_explicit(&in->word, memory_order_relaxed);

    while (fs_is_plain(word) && (uint32_t)word < SEM_VALUE_MAX) {
        if (atomic_compare_exchange_weak_explicit(&in->word, &word, word + 1,
                                                  memory_order_release, memory_order_relaxed))
            return true;
    }
    return false;
}

/* Returns -1 if the semaphore is no longer plain. */
static int plain_value(const sem_t *sem)
{
    uint64_t word = atomic_load_explicit(&fs_in_place(sem)->word, memory_order_acquire);

    return fs_is_plain(word) ? (int)(uint32_t)word : -1;
}

/* ---- sem_init and sem_destroy ---- */

EXPORT int sem_init(sem_t *sem, int pshared, unsigned value)
{
    struct fs_in_place *in = fs_in_place(sem);

    if (!prepare())
        return libc.init(sem, pshared, value);
    if (value > SEM_VALUE_MAX) {
        errno = EINVAL;
        return -1;
    }
    if (pshared != 0) {
        FS_COUNT(shared);
        return libc.init(sem, pshared, value);
    }
    if (fs_only_counts()) {
        FS_COUNT(created);
        return libc.init(sem, pshared, value);
    }
    memset(sem, 0, sizeof *sem);
    atomic_store_explicit(&in->record, fs_record_new(sem, __builtin_return_address(0)),
                          memory_order_relaxed);
    atomic_store_explicit(&in->units, value, memory_order_relaxed);
    atomic_store_explicit(&in->word, fs_plain(value), memory_order_release);
    FS_COUNT(created);
    if (fs_cells_at_once() && !fs_cell_move_in(sem)) {
        errno = ENOSPC;
        return -1;
    }
    return 0;
}

/*
 * While threads wait, sem_destroy does nothing.  As in libc, these threads can still be woken, and a
 * destroyed semaphore can still be used.
 */
EXPORT int sem_destroy(sem_t *sem)
{
    struct fs_cell *cell;
    enum fs_cell_kind kind = fs_cell_find(sem, &cell);

    if (kind == FS_IS_IN_CELL)
        fs_cell_move_out(sem);
    else if (kind != FS_IS_PLAIN)
        return pass_through(kind) ? libc.destroy(sem) : -1;
    return 0;
}

/* ---- Waits ---- */

/* With --bypass: take a unit before the waiters, unless one of them has waited for too long. */
static bool take_past(struct fs_cell *cell)
{
    if (fs_bypass_ns == 0 || !fs_seems_waited_for(fs_inside(&cell->sem))
        || fairsem_tryacquire(&cell->sem, 1) != 0)
        return false;
    FS_COUNT(passed);
    return true;
}

static int wait_in_cell(struct fs_cell *cell, clockid_t clock, const struct timespec *deadline)
{
    __attribute__((cleanup(fs_wait_place_leave))) struct fs_wait_place place;
    struct fs_record *record = atomic_load_explicit(&cell->record, memory_order_relaxed);
    uint64_t start = fs_record_start();
    int error;

    fs_wait_place_enter(&place);
    error = fs_sem_wait_slow(&cell->sem, clock, deadline, fs_priority());
    if (error == 0)
        fs_record_wait(record, start);
    return error;
}

/*
 * Sleep for a millisecond.  Returns 0, ETIMEDOUT after the deadline, or EINTR if a handler ends the wait.  As
 * in libc, a handler with SA_RESTART ends only a wait with a deadline.
 */
static int poll_pause(clockid_t clock, const struct timespec *deadline)
{
    const struct timespec moment = { .tv_nsec = 1000000 };
    const unsigned before = fs_interruptions();
    int error;

    if (deadline != NULL && fs_deadline_passed(&(struct fs_deadline){ clock, *deadline }))
        return ETIMEDOUT;
    error = clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
    return error == EINTR && deadline == NULL && fs_interruptions() == before ? 0 : error;
}

/* Wait in libc.  With --libc the wait is measured if no unit is free. */
static int wait_in_libc(sem_t *sem, clockid_t clock, const struct timespec *deadline)
{
    uint64_t start = 0;
    int result, value = 0;

    if (fs_only_counts() && libc.getvalue(sem, &value) == 0 && value <= 0)
        start = fs_record_start();
    if (deadline == NULL)
        result = libc.wait(sem);
    else if (clock == CLOCK_REALTIME)
        result = libc.timedwait(sem, deadline);
    else
        result = libc.clockwait(sem, clock, deadline);
    if (result == 0 && start != 0)
        fs_record_wait(NULL, start);
    return result;
}

/*
 * Wait for a unit.  Without memory for a cell the thread polls, because libc's sem_wait never fails for lack of
 * memory.
 */
static int wait_interposed(sem_t *sem, clockid_t clock, const struct timespec *deadline)
{
    struct fs_cell *cell;
    enum fs_cell_kind kind;
    int error;

    while ((kind = fs_cell_find(sem, &cell)) == FS_IS_PLAIN || kind == FS_IS_IN_CELL) {
        if (kind == FS_IS_IN_CELL) {
            if (take_past(cell) || fs_acquire_fast(fs_inside(&cell->sem), 1))
                error = 0;
            else
                error = wait_in_cell(cell, clock, deadline);
            if (error != FS_RETIRED)
                return fs_sem_result(error);
        } else if (take_plain(sem)) {
            return 0;
        } else if (!fs_cell_move_in(sem)) {
            error = poll_pause(clock, deadline);
            if (error != 0)
                return fs_sem_result(error);
        }
    }
    return pass_through(kind) ? wait_in_libc(sem, clock, deadline) : -1;
}

EXPORT int sem_wait(sem_t *sem)
{
    pthread_testcancel();
    return take_plain(sem) ? 0 : wait_interposed(sem, CLOCK_REALTIME, NULL);
}

/* If the cell is retired, look at the sem_t again: the semaphore has moved out of the cell. */
EXPORT int sem_trywait(sem_t *sem)
{
    struct fs_cell *cell;
    enum fs_cell_kind kind;

    while (!take_plain(sem)) {
        kind = fs_cell_find(sem, &cell);
        if (kind == FS_IS_IN_CELL) {
            int error = take_past(cell) ? 0 : fs_sem_trywait(&cell->sem);

            if (error == 0 || !fs_cell_is_retired(cell))
                return fs_sem_result(error);
        } else if (kind != FS_IS_PLAIN) {
            return pass_through(kind) ? libc.trywait(sem) : -1;
        } else if (plain_value(sem) == 0) {
            return fs_sem_result(EAGAIN);
        }
    }
    return 0;
}

/* As in libc, the deadline is checked first.  For a semaphore of libc, libc makes this check. */
static int wait_until(sem_t *sem, clockid_t clock, const struct timespec *deadline)
{
    struct fs_cell *cell;
    enum fs_cell_kind kind = fs_cell_find(sem, &cell);

    if (kind == FS_IS_PLAIN || kind == FS_IS_IN_CELL) {
        int error = fs_sem_check_deadline(clock, deadline);

        if (error != 0)
            return fs_sem_result(error);
        pthread_testcancel();
    }
    return take_plain(sem) ? 0 : wait_interposed(sem, clock, deadline);
}

EXPORT int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict deadline)
{
    return wait_until(sem, CLOCK_REALTIME, deadline);
}

EXPORT int sem_clockwait(sem_t *restrict sem, clockid_t clock,
                         const struct timespec *restrict deadline)
{
    return wait_until(sem, clock, deadline);
}

/* ---- Other functions ---- */

EXPORT int sem_post(sem_t *sem)
{
    struct fs_cell *cell;
    enum fs_cell_kind kind;

    while (!post_plain(sem)) {
        kind = fs_cell_find(sem, &cell);
        if (kind == FS_IS_IN_CELL) {
            int error = fs_sem_post(&cell->sem);

            if (error != FS_RETIRED)
                return fs_sem_result(error);
        } else if (kind != FS_IS_PLAIN) {
            return pass_through(kind) ? libc.post(sem) : -1;
        } else if (plain_value(sem) == SEM_VALUE_MAX) {
            return fs_sem_result(EOVERFLOW);
        }
    }
    return 0;
}

EXPORT int sem_getvalue(sem_t *restrict sem, int *restrict value)
{
    struct fs_cell *cell;
    enum fs_cell_kind kind;

    while ((kind = fs_cell_find(sem, &cell)) == FS_IS_PLAIN || kind == FS_IS_IN_CELL) {
        if (kind == FS_IS_PLAIN)
            *value = plain_value(sem);
        else
            (void)fs_sem_getvalue(&cell->sem, value);
        if (kind == FS_IS_PLAIN ? *value >= 0 : !fs_cell_is_retired(cell))
            return 0;
    }
    return pass_through(kind) ? libc.getvalue(sem, value) : -1;
}

/* This wrapper only counts.  The result is a semaphore of libc, which the other functions pass through. */
EXPORT sem_t *sem_open(const char *name, int oflag, ...)
{
    va_list args;
    mode_t mode = 0;
    unsigned value = 0;

    (void)prepare();
    FS_COUNT(named);
    if ((oflag & O_CREAT) != 0) {
        va_start(args, oflag);
        mode = va_arg(args, mode_t);
        value = va_arg(args, unsigned);
        va_end(args);
    }
    return libc.open(name, oflag, mode, value);
}
