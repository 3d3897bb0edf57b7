/* SPDX-License-Identifier: MIT */
/*
 * interposed_sandbox.c - a sandbox (seccomp(2)) that allows only the system calls of doc/real-programs.md:
 * those of libc's semaphores, and a few more.  Any other call kills the process.
 */
#include "interposed.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#ifndef SECCOMP_RET_KILL_PROCESS        /* since Linux 4.14 */
#define SECCOMP_RET_KILL_PROCESS 0x80000000U
#endif

enum { ROUNDS = 100, NICE = 23 };       /* CAP_SYS_NICE */

static sem_t begin, to, fro;
static _Atomic int started;

static void *answer(void *arg)
{
    atomic_store(&started, 1);
    MUST(sem_wait(&begin) == 0);
    for (int i = 0; i < ROUNDS; i++)
        MUST(sem_wait(&to) == 0 && sem_post(&fro) == 0);
    return arg;
}

/* Set a filter for all threads of the process. */
static bool set_filter(struct sock_filter *filter, unsigned short length)
{
    struct sock_fprog program = { .len = length, .filter = filter };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
           && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                      &program) == 0;
}

/* SYS_mmap is for semaphores that have waiters, SYS_sched_* for waiters that yield. */
static bool enter_sandbox(void)
{
    static const int allowed[] = {
        SYS_futex, SYS_mmap, SYS_sched_yield, SYS_sched_getscheduler, /* semaphores */
        SYS_clock_gettime,                                      /* sleeps with a deadline; libc itself */
        SYS_getpid, SYS_gettid, SYS_tgkill, SYS_rt_sigprocmask, SYS_rt_sigreturn,
        SYS_munmap, SYS_madvise, SYS_mprotect, SYS_brk, SYS_write, SYS_exit, SYS_exit_group,
    };
    enum { ALLOWED = sizeof allowed / sizeof allowed[0] };
    struct sock_filter filter[2 * ALLOWED + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    struct sock_filter *next = filter + 1;

    for (int i = 0; i < ALLOWED; i++) {
        *next++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
                                               0, 1);
        *next++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    *next = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    return set_filter(filter, sizeof filter / sizeof filter[0]);
}

/* Neither thread has waited before, except perhaps for `begin`. */
BEHAVIOR(in_sandbox)
{
    pthread_t thread;

    MUST(sem_init(&begin, 0, 0) == 0 && sem_init(&to, 0, 0) == 0 && sem_init(&fro, 0, 0) == 0);
    start(&thread, answer, NULL);
    while (!atomic_load(&started))
        sched_yield();
    if (!enter_sandbox())
        exit(skip_program("seccomp does not work here"));
    MUST(sem_post(&begin) == 0);
    for (int i = 0; i < ROUNDS; i++)
        MUST(sem_post(&to) == 0 && sem_wait(&fro) == 0);
    MUST(pthread_join(thread, NULL) == 0);
}

/* The filter raises SIGSYS for tgkill() and pthread_sigqueue(). */
bool refuse_tgkill(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_tgsigqueueinfo, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    return set_filter(filter, sizeof filter / sizeof filter[0]);
}

void run_without_right(const char *behavior)
{
    const struct rlimit none = { 0, 0 };

    MUST(setrlimit(RLIMIT_RTPRIO, &none) == 0);
    prctl(PR_CAPBSET_DROP, NICE, 0, 0, 0);      /* fails if this process does not have the right */
    execl("/proc/self/exe", "interposed", behavior, (char *)NULL);
}

/* In a process without the right to real-time priorities, no wait reads its priority. */
BEHAVIOR(sandbox)
{
    run_without_right("in-sandbox");
    MUST(!"the program has been executed");
}
