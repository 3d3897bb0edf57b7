/* SPDX-License-Identifier: MIT */
/* sem_calls.c - see sem_calls.h. */
#define _GNU_SOURCE
#include "sem_calls.h"

#include <errno.h>
#include <sched.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

int fs_sem_result(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/* The capacity makes the release that exceeds SEM_VALUE_MAX fail with EOVERFLOW. */
int fs_sem_init(fairsem_t *sem, unsigned value)
{
    const fairsem_attr_t attr = { .capacity = SEM_VALUE_MAX, .flags = FAIRSEM_INTERRUPTIBLE };
    int error;

    if (value > SEM_VALUE_MAX)
        return fs_sem_result(EINVAL);
    error = fairsem_init(sem, value, &attr);
    return fs_sem_result(error == ENOTSUP ? ENOSYS : error);
}

int fs_sem_destroy(fairsem_t *sem)
{
    return fs_sem_result(fairsem_destroy(sem));
}

int fs_sem_trywait(fairsem_t *sem)
{
    return fs_sem_result(fairsem_tryacquire(sem, 1));
}

int fs_sem_getvalue(fairsem_t *sem, int *value)
{
    *value = (int)fairsem_available(sem);
    return 0;
}

/* The rules of fairsem_acquire_with, which checks them too late here: after the fast path. */
int fs_sem_check_deadline(clockid_t clock, const struct timespec *deadline)
{
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
        return EINVAL;
    return deadline->tv_nsec >= 0 && deadline->tv_nsec < 1000000000 ? 0 : EINVAL;
}

/*
 * The system call asks Linux about the calling thread (musl has no function for it); it takes no
 * lock, because a handler may have interrupted anything.
 */
int fs_sem_priority(void)
{
    int before = errno, priority = 0;
#if defined(SYS_sched_getparam)
    struct sched_param param;

    if (syscall(SYS_sched_getparam, 0, &param) == 0)
        priority = -param.sched_priority;
#endif
    errno = before;
    return priority;
}

int fs_sem_wait_slow(fairsem_t *sem, clockid_t clock, const struct timespec *deadline,
                     int priority)
{
    const fairsem_wait_t how = { .clock = clock, .deadline = deadline, .priority = priority };

    return fs_sem_result(fairsem_acquire_with(sem, 1, &how));
}
