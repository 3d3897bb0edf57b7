/* SPDX-License-Identifier: MIT */
/* system_generic.c - for systems of which only POSIX is known; see system.h. */
#if !defined(__linux__)

#include "system/system.h"

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

bool fs_cpu_is_time_shared(void)
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

int fs_thread_id(void)
{
    return 0;
}

void fs_thread_name(int id, char name[FS_THREAD_NAME])
{
    (void)id;
    name[0] = '\0';
}

bool fs_may_be_real_time(void)
{
    return true;
}

#else
typedef int translation_unit_not_empty;
#endif
