/* SPDX-License-Identifier: MIT */
/* real_time_linux.c - the right to real-time priorities, by bare system calls; see real_time.h. */
#if defined(__linux__)

#define _GNU_SOURCE             /* syscall */
#include "real_time.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Or can it give itself the right?  Without it, only another process can make it real-time. */
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
