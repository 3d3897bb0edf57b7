/* SPDX-License-Identifier: MIT */
/*
 * interposed_sandbox.c - a sandbox that kills the process for any system call that is not listed in
 * doc/real-programs.md: those of libc's semaphores, and a few more.  seccomp(2).
 */
#define _GNU_SOURCE
#include "interposed.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

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

/* For all threads of the process. */
static bool set_filter(struct sock_filter *filter, unsigned short length)
{
    struct sock_fprog program = { .len = length, .filter = filter };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
           && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                      &program) == 0;
}

/* mmap is for semaphores that have waiters, the next two are for waiters that yield. */
static bool enter_sandbox(void)
{
    static const int allowed[] = {
        SYS_futex, SYS_mmap, SYS_sched_yield, SYS_sched_getscheduler, /* semaphores */
        SYS_clock_gettime,                                      /* where libc needs it */
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

/* Neither thread has waited before, except perhaps one for `begin`. */
int in_sandbox(void)
{
    pthread_t thread;

    MUST(sem_init(&begin, 0, 0) == 0 && sem_init(&to, 0, 0) == 0 && sem_init(&fro, 0, 0) == 0);
    start(&thread, answer, NULL);
    while (!atomic_load(&started))
        sched_yield();
    if (!enter_sandbox())
        return skip_program("seccomp does not work here");
    MUST(sem_post(&begin) == 0);
    for (int i = 0; i < ROUNDS; i++)
        MUST(sem_post(&to) == 0 && sem_wait(&fro) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    return 0;
}

/* ---- tgkill() is not allowed, and the filter raises SIGSYS ---- */

enum { SIGNALS = 20000, AHEAD = 20 };
static _Atomic int refused, arrived, out_of_order;
static sem_t contended;

static void on_refused(int sig)
{
    (void)sig;
    atomic_fetch_add(&refused, 1);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    static volatile sig_atomic_t inside;
    ucontext_t *interrupted = context;
    unsigned long long mask;

    (void)sig;
    memcpy(&mask, &interrupted->uc_sigmask, sizeof mask);
    if (inside++ != 0 || mask != 0 || info->si_value.sival_int != atomic_load(&arrived))
        atomic_fetch_add(&out_of_order, 1);
    atomic_fetch_add(&arrived, 1);
    MUST(sem_post(&contended) == 0 && sem_wait(&contended) == 0);
    inside--;
}

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

static void *send_all(void *arg)
{
    for (int i = 0; i < SIGNALS; i++) {
        while (i - atomic_load(&arrived) > AHEAD)
            sched_yield();
        MUST(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ .sival_int = i }) == 0);
    }
    return arg;
}

/* Every handler runs, once and in order, as if nothing was refused. */
int without_tgkill(void)
{
    struct sigaction refuse = { .sa_handler = on_refused },
                     handle = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
    pthread_t contender[2], sender;
    sigset_t ours;

    MUST(sigaction(SIGSYS, &refuse, NULL) == 0 && sigaction(SIGRTMIN + 1, &handle, NULL) == 0);
    sigemptyset(&ours);
    sigaddset(&ours, SIGRTMIN + 1);
    MUST(pthread_sigmask(SIG_BLOCK, &ours, NULL) == 0 && sem_init(&contended, 0, 1) == 0);
    for (int i = 0; i < 2; i++)
        start(&contender[i], take_and_give, &contended);
    if (!refuse_tgkill())
        return skip_program("seccomp does not work here");
    start(&sender, send_all, NULL);
    MUST(pthread_sigmask(SIG_UNBLOCK, &ours, NULL) == 0);
    while (atomic_load(&arrived) < SIGNALS)
        MUST(sem_wait(&contended) == 0 && sem_post(&contended) == 0);
    MUST(pthread_join(sender, NULL) == 0);
    atomic_store(&stop, 1);
    for (int i = 0; i < 2; i++)
        MUST(pthread_join(contender[i], NULL) == 0);
    MUST(atomic_load(&out_of_order) == 0 && value_of(&contended) == 1);
    printf("%d signals, %d calls were refused\n", SIGNALS, atomic_load(&refused));
    return 0;
}

void run_without_right(const char *behavior)
{
    const struct rlimit none = { 0, 0 };

    MUST(setrlimit(RLIMIT_RTPRIO, &none) == 0);
    prctl(PR_CAPBSET_DROP, NICE, 0, 0, 0);      /* fails if it is no right of ours */
    execl("/proc/self/exe", "interposed", behavior, (char *)NULL);
}

/* There nobody needs to ask for a priority. */
int sandbox(void)
{
    run_without_right("in-sandbox");
    return 1;
}
