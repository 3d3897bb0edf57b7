/* SPDX-License-Identifier: MIT */
/* sem_real_time_linux.c - real-time priorities, by bare system calls; see sem_real_time.h. */
#if defined(__linux__)

#define _GNU_SOURCE             /* syscall */
#include "sem_real_time.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SCHED_RESET_ON_FORK         /* a flag of Linux's policies */
#define SCHED_RESET_ON_FORK 0x40000000
#endif

static bool has_right(void)
{
    struct { uint32_t version; int pid; } header = { 0x20080522, 0 };
    struct { uint32_t effective, permitted, inheritable; } sets[2] = { { 0, 0, 0 } };
    struct rlimit limit;
    const uint32_t sys_nice = UINT32_C(1) << 23;

    if (getrlimit(RLIMIT_RTPRIO, &limit) == 0 && limit.rlim_cur > 0)
        return true;
    return syscall(SYS_capget, &header, sets) == 0 && (sets[0].effective & sys_nice) != 0;
}

bool fs_may_be_real_time(void)
{
    static _Atomic bool never;
    int before = errno;

    if (!atomic_load_explicit(&never, memory_order_relaxed) && !has_right())
        atomic_store_explicit(&never, true, memory_order_relaxed);
    errno = before;
    return !atomic_load_explicit(&never, memory_order_relaxed);
}

bool fs_is_real_time(void)
{
    int before = errno;
    long policy = syscall(SYS_sched_getscheduler, 0) & ~SCHED_RESET_ON_FORK;

    errno = before;
    return policy == SCHED_FIFO || policy == SCHED_RR;
}

/*
 * The system call asks Linux about the calling thread (musl has no function for it); it takes no
 * lock, because a handler may have interrupted anything.
 */
int fs_real_time_priority(void)
{
    int before = errno, priority = 0;
    struct sched_param param;

    if (syscall(SYS_sched_getparam, 0, &param) == 0)
        priority = -param.sched_priority;
    errno = before;
    return priority;
}

#else
typedef int translation_unit_not_empty;
#endif
