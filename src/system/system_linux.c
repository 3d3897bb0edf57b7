/* SPDX-License-Identifier: MIT */
/* system_linux.c - cores, threads and priorities, by system calls of Linux; see system.h. */
#if defined(__linux__)

#define _GNU_SOURCE             /* sched_getaffinity, sched_getcpu, syscall */
#include "system/system.h"

#include "system/fork.h"
#include "system/quota.h"
#include "tools/compiler.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Cores ---- */

#define DEADLINE 6              /* SCHED_DEADLINE, which glibc declares since 2.40 */

/* Kernels before 2.6.19 and some sandboxes refuse sched_getcpu(). */
int fs_cpu_current(void)
{
    static _Atomic int unknown;
    int error = errno, core = sched_getcpu();

    if (core >= 0)
        return core;
    errno = error;
    return -1 - (atomic_fetch_add(&unknown, 1) & 0x3fff);
}

/*
 * A bare system call, because sched_getscheduler() of musl always fails.  If the kernel refuses the call,
 * assume time-sharing.
 */
bool fs_cpu_is_time_shared(void)
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

static _Atomic int core_count;  /* 0 if not known yet */

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

/* ---- Threads ---- */

/*
 * A bare system call, because glibc before 2.30 has no gettid().  Each thread makes the call once, and again
 * after a fork.  (The generation is stored after the id.  Otherwise a signal handler that runs between the two
 * stores would return the id that the thread had in the parent.)
 */
int fs_thread_id(void)
{
    static _Thread_local FS_NEVER_ALLOCATED unsigned generation;
    static _Thread_local FS_NEVER_ALLOCATED int id;

    if (id == 0 || generation != fs_fork_generation()) {
        id = (int)syscall(SYS_gettid);
        generation = fs_fork_generation();
    }
    return id;
}

/* Control characters of the name, which would spoil a line of text, become question marks. */
void fs_thread_name(int id, char name[FS_THREAD_NAME])
{
    char path[48];
    ssize_t length = 0;
    int file;

    snprintf(path, sizeof path, "/proc/self/task/%d/comm", id);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        length = read(file, name, FS_THREAD_NAME - 1);
        close(file);
    }
    if (length > 0 && name[length - 1] == '\n')
        length--;
    name[length > 0 ? length : 0] = '\0';
    for (char *at = name; *at != '\0'; at++) {
        if (iscntrl((unsigned char)*at))
            *at = '?';
    }
}

/* ---- Real-time priorities ---- */

/*
 * Does this process have the right to real-time priorities, or may it acquire the right by itself?  If false,
 * a real-time priority can come only from another process: the parent, or a tool such as chrt.
 */
static bool has_right(void)
{
    struct { uint32_t version; int pid; } header = { 0x20080522, 0 };
    struct { uint32_t effective, permitted, inheritable; } sets[2] = { { 0, 0, 0 } };
    struct rlimit limit;
    const uint32_t sys_nice = UINT32_C(1) << 23;

    if (getrlimit(RLIMIT_RTPRIO, &limit) == 0 && limit.rlim_max > 0)
        return true;
    return syscall(SYS_capget, &header, sets) == 0 && (sets[0].permitted & sys_nice) != 0;
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

#else
typedef int translation_unit_not_empty;
#endif
