/* SPDX-License-Identifier: MIT */
/*
 * priority.c - see priority.h.
 *
 * Each wait asks the kernel if the process had the right to real-time priorities, or had one, when it
 * started: nothing else tells when a thread calls pthread_setschedparam().  In other processes a sandbox
 * may not allow that system call.  There one wait in ASK_EACH asks for the policy of its thread, until
 * one is a real-time thread: another process (chrt, rtkit) has made it one.
 */
#include "priority.h"

#include "fast_path.h"
#include "posix/sem_real_time.h"

#include <stdatomic.h>
#include <stdbool.h>

#define ASK_EACH 256

static _Atomic bool asks;       /* whether each wait asks; becomes true, and stays so */

static _Thread_local int waits_left __attribute__((tls_model("initial-exec")));

/* A handler may interrupt this and ask as well; both answers are right. */
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
