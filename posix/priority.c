/* SPDX-License-Identifier: MIT */
/*
 * priority.c - see priority.h.
 *
 * The answer is remembered for each thread, and all answers are asked for again after a call by
 * which this process changes a priority.  Other processes can change it, too (chrt), and the bare
 * system call can; that is seen within ASK_EACH waits.
 */
#define _GNU_SOURCE
#include "priority.h"

#include "sem_calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#define ASK_EACH 256

static struct {
    int (*setscheduler)(pid_t, int, const struct sched_param *);
    int (*setparam)(pid_t, const struct sched_param *);
    int (*setschedparam)(pthread_t, int, const struct sched_param *);
    int (*setschedprio)(pthread_t, int);
} libc;

/* How often a priority has been changed; never 0, which is what a new thread has seen. */
static _Atomic unsigned changes = 1;

static _Thread_local struct {
    unsigned seen;          /* of `changes`, before the answer */
    int      priority;
    int      waits_left;    /* until it is asked again */
} known __attribute__((tls_model("initial-exec")));

/*
 * A handler may come in between and ask as well; both answers are right.
 *
 * Acquire order, with the release in changed(): whoever sees the number sees the kernel's new
 * answer.  (The kernel would not need it.)
 */
int fs_priority(void)
{
    unsigned now = atomic_load_explicit(&changes, memory_order_acquire);

    if (known.seen != now || known.waits_left-- <= 0) {
        known.priority = fs_sem_priority();
        known.seen = now;
        known.waits_left = ASK_EACH;
    }
    return known.priority;
}

/* After the change: an answer that was asked for before it is thrown away. */
static void changed(void)
{
    if (atomic_fetch_add_explicit(&changes, 1, memory_order_release) + 1 == 0)
        atomic_fetch_add_explicit(&changes, 1, memory_order_release);
}

#define FIND(name, of_libc)                                      \
    do {                                                         \
        void *found_ = dlsym(RTLD_NEXT, of_libc);                \
        memcpy(&libc.name, &found_, sizeof found_);              \
    } while (0)

/*
 * Two threads may come here at once, and write the same.  Not pthread_once(): a sanitizer in front of
 * this module comes here before its own functions work.  Release order: for what was written.
 */
static _Atomic bool found_all;

static void find(void)
{
    FIND(setscheduler, "sched_setscheduler");
    FIND(setparam, "sched_setparam");
    FIND(setschedparam, "pthread_setschedparam");
    FIND(setschedprio, "pthread_setschedprio");
    atomic_store_explicit(&found_all, true, memory_order_release);
}

void fs_priority_prepare(void)
{
    if (!atomic_load_explicit(&found_all, memory_order_acquire))
        find();
}

void fs_priority_in_child(void)
{
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
