/* SPDX-License-Identifier: MIT */
/* cpu_generic.c - cores, where a thread's own is not known; see cpu.h. */
#if !defined(__linux__)

#include "cpu.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

int fs_cpu_current(void)
{
    static _Atomic int calls;

    return -1 - (atomic_fetch_add(&calls, 1) & 0x3fff);
}

bool fs_cpu_takes_turns(void)
{
    struct sched_param ignored;
    int policy;

    return pthread_getschedparam(pthread_self(), &policy, &ignored) != 0
           || (policy != SCHED_FIFO && policy != SCHED_RR);
}

int fs_cpu_count(void)
{
#if defined(_SC_NPROCESSORS_ONLN)
    static _Atomic int count;
    int error = errno, cores = count;

    if (cores == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);

        count = cores = online > 0 ? (int)online : 2;
        errno = error;
    }
    return cores;
#else
    return 2;
#endif
}

#else
typedef int translation_unit_not_empty;
#endif
