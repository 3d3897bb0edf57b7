/* SPDX-License-Identifier: MIT */
/*
 * priority.c - see priority.h.
 *
 * In a process that had a real-time priority when it started, or the right to one, each wait asks the kernel
 * for the priority, because nothing tells this module when a thread calls pthread_setschedparam().
 *
 * In any other process, a sandbox may forbid the system call that reads the priority.  There, one wait in
 * ASK_EACH reads only the policy of its thread, by a system call that a sandbox must allow (sem_real_time.h).
 * If this wait finds a real-time policy, set by another process (chrt, rtkit), it and all later waits ask for
 * the priority.
 */
#include "priority.h"

#include "fast_path.h"
#include "posix/sem_real_time.h"

#include <stdatomic.h>
#include <stdbool.h>

#define ASK_EACH 256

static _Atomic bool asks;       /* each wait asks for the priority; once true, it stays true */

static _Thread_local int waits_left __attribute__((tls_model("initial-exec")));

/* A handler that interrupts this function may call it, too: the results of both calls are right. */
int fs_priority(void)
{
    if (!atomic_load_explicit(&asks, memory_order_relaxed)) {
        if (waits_left-- > 0)
            return 0;
        waits_left = ASK_EACH;
        if (!fs_is_real_time())
            return 0;
        atomic_store_explicit(&asks, true, memory_order_relaxed);
    }
    return fs_real_time_priority();
}

void fs_priority_prepare(void)
{
    if (fs_may_be_real_time() || fs_real_time_priority() != 0)
        atomic_store_explicit(&asks, true, memory_order_relaxed);
}
