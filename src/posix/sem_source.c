/* SPDX-License-Identifier: MIT */
/* sem_source.c - the functions of fairsem/posix.h. */
#include "sem_calls.h"
#include "sem_real_time.h"
#include "sem_zeroed.h"

#include <fairsem/posix.h>

#include <errno.h>

int fairsem_sem_init(fairsem_sem_t *sem, int pshared, unsigned value)
{
    /* As in glibc, the value is checked first. */
    if (value <= SEM_VALUE_MAX && pshared != 0)
        return fs_sem_result(ENOSYS);
    return fs_sem_result(fs_sem_init(&sem->fairsem_inside_, value, 0));
}

int fairsem_sem_destroy(fairsem_sem_t *sem)
{
    if (fs_sem_is_zeroed(&sem->fairsem_inside_))
        return 0;
    /* As in glibc, sem_destroy never fails. */
    (void)fs_sem_destroy(&sem->fairsem_inside_);
    return 0;
}

#define ASK_EACH 256

/*
 * Returns the priority for a contended wait.  If the process has the right to real-time priorities, each wait
 * reads the priority from the kernel, because nothing else shows a call of pthread_setschedparam.
 *
 * Without the right, a real-time priority can only be inherited, or come from another process (chrt, rtkit).
 * So a thread reads its priority in one of ASK_EACH waits.  After it has read a real-time priority, it reads
 * the priority in each wait, until it reads an ordinary one.
 *
 * Async-signal-safe, even in a handler that interrupts this function.
 */
static int priority_now(void)
{
    static _Thread_local FS_NEVER_ALLOCATED int priority, waits_left;
    static _Thread_local FS_NEVER_ALLOCATED bool may;

    if (waits_left > 0 && !may && priority == 0) {
        waits_left--;
        return 0;
    }
    if (waits_left-- <= 0 || !may) {
        waits_left = ASK_EACH - 1;
        may = fs_may_be_real_time();
    }
    priority = fs_real_time_priority();
    return priority;
}

static int wait_contended(fairsem_sem_t *sem, clockid_t clock, const struct timespec *deadline)
{
    fairsem_t *inside = fs_sem_initialized(&sem->fairsem_inside_);

    return fs_sem_result(fs_sem_wait_slow(inside, clock, deadline, priority_now()));
}

int fairsem_sem_wait(fairsem_sem_t *sem)
{
    if (fs_sem_wait_fast(&sem->fairsem_inside_))
        return 0;
    return wait_contended(sem, CLOCK_REALTIME, NULL);
}

int fairsem_sem_trywait(fairsem_sem_t *sem)
{
    if (fs_acquire_fast(fs_inside(&sem->fairsem_inside_), 1))
        return 0;
    return fs_sem_result(fs_sem_trywait(fs_sem_initialized(&sem->fairsem_inside_)));
}

int fairsem_sem_timedwait(fairsem_sem_t *sem, const struct timespec *deadline)
{
    return fairsem_sem_clockwait(sem, CLOCK_REALTIME, deadline);
}

int fairsem_sem_clockwait(fairsem_sem_t *sem, clockid_t clock, const struct timespec *deadline)
{
    int error = fs_sem_check_deadline(clock, deadline);

    if (error != 0)
        return fs_sem_result(error);
    if (fs_sem_wait_fast(&sem->fairsem_inside_))
        return 0;
    return wait_contended(sem, clock, deadline);
}

int fairsem_sem_post(fairsem_sem_t *sem)
{
    if (fs_give(fs_inside(&sem->fairsem_inside_), 1, false))
        return 0;
    return fs_sem_result(fairsem_release(fs_sem_initialized(&sem->fairsem_inside_), 1));
}

int fairsem_sem_getvalue(fairsem_sem_t *sem, int *value)
{
    *value = 0;
    if (!fs_sem_is_zeroed(&sem->fairsem_inside_))
        (void)fs_sem_getvalue(&sem->fairsem_inside_, value);
    return 0;
}

fairsem_sem_t *fairsem_sem_open(const char *name, int oflag, ...)
{
    (void)name;
    (void)oflag;
    errno = ENOSYS;
    return SEM_FAILED;
}

int fairsem_sem_close(fairsem_sem_t *sem)
{
    (void)sem;
    return fs_sem_result(ENOSYS);
}

int fairsem_sem_unlink(const char *name)
{
    (void)name;
    return fs_sem_result(ENOSYS);
}
