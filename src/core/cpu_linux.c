/* SPDX-License-Identifier: MIT */
/* cpu_linux.c - cores, by sched_getcpu(3), sched_getaffinity(2) and quota.h; see cpu.h. */
#if defined(__linux__)

#define _GNU_SOURCE             /* sched_getaffinity, sched_getcpu */
#include "compiler.h"
#include "cpu.h"
#include "quota.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEADLINE 6              /* SCHED_DEADLINE, which glibc declares since 2.40 */

/* Kernels before 2.6.19 and some sandboxes refuse: each call returns another number then. */
int fs_cpu_current(void)
{
    static _Atomic int unknown;
    int error = errno, core = sched_getcpu();

    if (core >= 0)
        return core;
    errno = error;
    return -1 - (atomic_fetch_add(&unknown, 1) & 0x3fff);
}

/* Not by sched_getscheduler(): in musl that only fails.  If the kernel refuses, so be it. */
bool fs_cpu_takes_turns(void)
{
    int error = errno;
    long policy = syscall(SYS_sched_getscheduler, 0);

    errno = error;
    if (policy < 0)
        return true;
    policy &= ~(long)SCHED_RESET_ON_FORK;
    return policy != SCHED_FIFO && policy != SCHED_RR && policy != DEADLINE;
}

static int allowed_cores(void)
{
    cpu_set_t mask;
    int error = errno, quota = fs_quota_cores("/");
    long cores;

    if (sched_getaffinity(getpid(), sizeof mask, &mask) == 0)
        cores = CPU_COUNT(&mask);
    else
        cores = sysconf(_SC_NPROCESSORS_ONLN);
    errno = error;
    if (cores > quota)
        return quota;
    return cores > 0 ? (int)cores : 1;
}

static _Atomic int core_count;  /* 0: not known yet */

FS_WHEN_LOADED static void cpu_initialize(void)
{
    atomic_store_explicit(&core_count, allowed_cores(), memory_order_relaxed);
}

int fs_cpu_count(void)
{
    int cores = atomic_load_explicit(&core_count, memory_order_relaxed);

    if (cores == 0) {           /* before the constructor has run */
        cpu_initialize();
        cores = atomic_load_explicit(&core_count, memory_order_relaxed);
    }
    return cores;
}

#else
typedef int translation_unit_not_empty;
#endif
