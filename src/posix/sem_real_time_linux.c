/* SPDX-License-Identifier: MIT */
/* sem_real_time_linux.c - real-time priorities, by bare system calls; see sem_real_time.h. */
#if defined(__linux__)

#define _GNU_SOURCE             /* syscall */
#include "sem_real_time.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SCHED_RESET_ON_FORK         /* a flag that Linux adds to policies */
#define SCHED_RESET_ON_FORK 0x40000000
#endif

bool fs_is_real_time(void)
{
    int before = errno;
    long policy = syscall(SYS_sched_getscheduler, 0) & ~SCHED_RESET_ON_FORK;

    errno = before;
    return policy == SCHED_FIFO || policy == SCHED_RR;
}

/*
 * A bare system call, because sched_getparam() of musl always fails.  The call takes no lock, so signal
 * handlers may make it.
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
