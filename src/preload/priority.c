/* SPDX-License-Identifier: MIT */
/*
 * priority.c - see priority.h.
 *
 * Threads ask the kernel for it only if the process had the right to real-time priorities, or had
 * one, when it started, or if it has called one of the functions below.  In other processes a
 * sandbox may not allow the system call.  There they ask for their policy, until one of them is a
 * real-time thread.
 *
 * Each thread remembers the answer.  After any call by which this process changes a priority, all
 * threads ask again.  Another process (chrt, rtkit) or a bare system call can also change it; a
 * thread notices that within ASK_EACH waits.
 */
#define _GNU_SOURCE
#include "priority.h"

#include "fast_path.h"
#include "next.h"
#include "posix/sem_real_time.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define ASK_EACH 256

static struct {
    int (*setscheduler)(pid_t, int, const struct sched_param *);
    int (*setparam)(pid_t, const struct sched_param *);
    int (*setschedparam)(pthread_t, int, const struct sched_param *);
    int (*setschedprio)(pthread_t, int);
} libc;

static _Atomic bool asks;       /* whether threads ask; becomes true, and stays so */

/* How often a priority has been changed; never 0, which is the `seen` of a new thread. */
static _Atomic unsigned changes = 1;

static _Thread_local struct {
    unsigned seen;          /* of `changes`, before the answer */
    int      priority;
    int      waits_left;    /* until it is asked again */
} known __attribute__((tls_model("initial-exec")));

/*
 * A handler may interrupt this and ask as well; both answers are right.
 *
 * Acquire order, with the release in changed(): a thread that sees the new number gets the kernel's
 * new answer.  (The kernel would not need it.)
 */
int fs_priority(void)
{
    unsigned now;

    if (!atomic_load_explicit(&asks, memory_order_acquire)) {
        if (known.waits_left-- > 0)
            return 0;
        known.waits_left = ASK_EACH;
        if (!fs_is_real_time())
            return 0;
        atomic_store_explicit(&asks, true, memory_order_release);
        known.waits_left = 0;
    }
    now = atomic_load_explicit(&changes, memory_order_acquire);
    if (known.seen != now || known.waits_left-- <= 0) {
        known.priority = fs_real_time_priority();
        known.seen = now;
        known.waits_left = ASK_EACH;
    }
    return known.priority;
}

/* Called after the change, so that answers from before it are discarded. */
static void changed(void)
{
    if (atomic_fetch_add_explicit(&changes, 1, memory_order_release) + 1 == 0)
        atomic_fetch_add_explicit(&changes, 1, memory_order_release);
    atomic_store_explicit(&asks, true, memory_order_release);
}

static _Atomic bool priority_calls_found;

static void find_priority_calls(void)
{
    fs_find_next(&libc.setscheduler, "sched_setscheduler");
    fs_find_next(&libc.setparam, "sched_setparam");
    fs_find_next(&libc.setschedparam, "pthread_setschedparam");
    fs_find_next(&libc.setschedprio, "pthread_setschedprio");
    if (fs_may_be_real_time() || fs_real_time_priority() != 0)
        atomic_store_explicit(&asks, true, memory_order_release);
}

void fs_priority_prepare(void)
{
    fs_find_once(&priority_calls_found, find_priority_calls);
}

/* With SCHED_RESET_ON_FORK it is not that of the parent. */
void fs_priority_in_child(void)
{
    if (atomic_load_explicit(&asks, memory_order_relaxed))
        changed();
}

EXPORT int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
    int result;

    fs_priority_prepare();
    result = libc.setscheduler(pid, policy, param);
    changed();
    return result;
}

EXPORT int sched_setparam(pid_t pid, const struct sched_param *param)
{
    int result;

    fs_priority_prepare();
    result = libc.setparam(pid, param);
    changed();
    return result;
}

EXPORT int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
    int result;

    fs_priority_prepare();
    result = libc.setschedparam(thread, policy, param);
    changed();
    return result;
}

EXPORT int pthread_setschedprio(pthread_t thread, int priority)
{
    int result;

    fs_priority_prepare();
    result = libc.setschedprio(thread, priority);
    changed();
    return result;
}
