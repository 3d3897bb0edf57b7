/* SPDX-License-Identifier: MIT */
/* sem_calls.c - see sem_calls.h. */
#define _GNU_SOURCE
#include "sem_calls.h"

#include <errno.h>
#include <sched.h>
#if defined(__linux__)
#include <sys/resource.h>
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

/*
 * May a thread of this process have a real-time priority?  Then the mutex of a semaphore lends its
 * holder the priority of those who wait for it.  Otherwise a post of a real-time thread can find the
 * mutex held by a thread that does not run, because a third one with a priority in between does: 20
 * ms and more.  A mutex that does this costs nothing while it is free.
 *
 * Not in every process, because a sandbox may forbid what such a mutex asks of the kernel
 * (FUTEX_LOCK_PI: the one of Chromium kills for it).  What runs in a sandbox has no such right.
 */
static bool may_be_real_time(void)
{
#if defined(__linux__) && defined(SYS_capget)
    struct { uint32_t version; int pid; } header = { 0x20080522, 0 };
    struct { uint32_t effective, permitted, inheritable; } sets[2] = { { 0, 0, 0 } };
    struct rlimit limit;
    const uint32_t sys_nice = UINT32_C(1) << 23;

    if (getrlimit(RLIMIT_RTPRIO, &limit) == 0 && limit.rlim_cur > 0)
        return true;
    return syscall(SYS_capget, &header, sets) == 0 && (sets[0].effective & sys_nice) != 0;
#else
    return false;
#endif
}

/* Asked once.  (A child that makes the mutex anew after a fork has an ordinary one.) */
static void inherit_priority(pthread_mutex_t *mutex)
{
    static _Atomic int answer;      /* 0: not asked yet */
    int error = errno, yes = atomic_load_explicit(&answer, memory_order_relaxed);
    pthread_mutexattr_t attr;

    if (yes == 0) {
        yes = may_be_real_time() ? 1 : -1;
        atomic_store_explicit(&answer, yes, memory_order_relaxed);
    }
    errno = error;
    if (yes < 0 || pthread_mutexattr_init(&attr) != 0)
        return;
    if (pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) == 0)
        (void)pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
}

/* The capacity makes the release that exceeds SEM_VALUE_MAX fail with EOVERFLOW. */
int fs_sem_init(fairsem_t *sem, unsigned value)
{
    const fairsem_attr_t attr = { .capacity = SEM_VALUE_MAX, .flags = FAIRSEM_INTERRUPTIBLE };
    int error;

    if (value > SEM_VALUE_MAX)
        return fs_sem_result(EINVAL);
    error = fairsem_init(sem, value, &attr);
    if (error == 0)
        inherit_priority(&fs_inside(sem)->mutex);
    return fs_sem_result(error == ENOTSUP ? ENOSYS : error);
}

int fs_sem_destroy(fairsem_t *sem)
{
    return fs_sem_result(fairsem_destroy(sem));
}

int fs_sem_trywait(fairsem_t *sem)
{
    if (fs_acquire_fast(fs_inside(sem), 1))
        return 0;
    if (fs_too_few_now(fs_inside(sem), 1))
        return fs_sem_result(EAGAIN);
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
