/* SPDX-License-Identifier: MIT */
/*
 * stepped.c - two signals come before each instruction of a post that grants, of a wait that times
 * out, and of sem_getvalue.  Their handlers use the same semaphore.
 *
 * interpose.sh runs it under fairsem-run.  A child repeats the operation.  Its parent steps through
 * it once (ptrace) and notes the address of each instruction.  In each later run it stops the child
 * at the next of these, by the processor's debug registers, which belong to one thread.  It sends
 * both signals, and lets the child go on.  After each run the child checks that both handlers have
 * run, once, with the sender's value, in a context that blocks no signal except the other; that the
 * mask is as before; and that the units add up.  A handler in a critical section would wait for the
 * mutex of its own thread.
 *
 * At last the first signal always hits the same critical section, and the second one, a SIGBUS that
 * no instruction has raised, comes before each instruction after that.
 *
 * Exit status 0, or 1 and a message; 77: no ptrace here, or another processor than x86-64.
 */
#define _GNU_SOURCE
#include "interposed.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

enum { FIRST = SIGUSR1 };

static int second;              /* the number of the other signal */
static sem_t sem;
static sem_t plain;             /* a number, until a handler makes it more than that */
static int told[FS_NSIG], runs[FS_NSIG];
static int times;               /* how often the operation has been done */
static unsigned long long waits_of_helper;

/* ---- The child ---- */

static const struct timespec past = { 1, 0 };
static int asks;                /* the operation is ask_plain(), and handlers use `plain`, too */

static void use(int sig, siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;
    unsigned long long mask;
    int error = errno;

    memcpy(&mask, &interrupted->uc_sigmask, sizeof mask);
    mask &= ~(1ULL << (FIRST - 1) | 1ULL << (second - 1));
    MUST(mask == 0);
    MUST(info->si_signo == sig && info->si_code == SI_QUEUE);
    told[sig] = info->si_value.sival_int;
    runs[sig]++;
    MUST(sem_post(&sem) == 0);
    if (asks)
        MUST_FAIL(sem_timedwait(&plain, &past), ETIMEDOUT);
    errno = error;
}

static void *take(void *arg)
{
    for (;;) {
        MUST(sem_wait(&sem) == 0);
        __atomic_fetch_add(&waits_of_helper, 1, __ATOMIC_RELEASE);
    }
    return arg;
}

static void await_takes(unsigned long long number)
{
    while (__atomic_load_n(&waits_of_helper, __ATOMIC_ACQUIRE) < number)
        sched_yield();
}

static void post_to_waiter(void)
{
    MUST(sem_post(&sem) == 0);
}

/* No other thread posts, so only a unit from a handler can end it early. */
static void wait_in_vain(void)
{
    if (sem_timedwait(&sem, &past) == 0)
        MUST(sem_post(&sem) == 0);
}

static void ask_plain(void)
{
    MUST(value_of(&plain) == 0);
}

/* The child stops itself before and after each; the parent does the rest. */
static void repeat(void (*operation)(void), int helped)
{
    unsigned long long takes = 0;
    sigset_t mask;

    for (;;) {
        raise(SIGSTOP);
        operation();
        raise(SIGSTOP);
        times++;
        MUST(runs[FIRST] == times && runs[second] == times);
        MUST(told[FIRST] == times && told[second] == times);
        MUST(sigprocmask(SIG_BLOCK, NULL, &mask) == 0);
        for (int sig = 1; sig < FS_NSIG; sig++)
            MUST(sigismember(&mask, sig) != 1);
        if (helped) {
            await_takes(takes += 3);
        } else {
            MUST(value_of(&sem) == 2);
            MUST(sem_trywait(&sem) == 0 && sem_trywait(&sem) == 0);
            MUST(sem_destroy(&plain) == 0);
        }
    }
}

static void child(int operation)
{
    struct sigaction action = { .sa_sigaction = use, .sa_flags = SA_SIGINFO | SA_RESTART };
    struct waiter w = { 0 };
    pthread_t helper;

    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(77);
    sigemptyset(&action.sa_mask);
    MUST(sigaction(FIRST, &action, NULL) == 0 && sigaction(second, &action, NULL) == 0);
    MUST(sem_init(&sem, 0, 0) == 0);
    /* A thread waits once, so that the semaphore is more than a number. */
    queue(&w, &sem);
    MUST(sem_post(&sem) == 0 && join(&w) == 0);
    MUST(sem_init(&plain, 0, 0) == 0);
    asks = operation == 2;
    if (operation == 0)
        start(&helper, take, NULL);
    repeat(operation == 0 ? post_to_waiter : asks ? ask_plain : wait_in_vain, operation == 0);
}

/* ---- The parent ---- */

/* Wait until it stops; returns the signal. */
static int stopped(pid_t pid)
{
    int status = child_status(pid);

    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        _exit(77);
    MUST(WIFSTOPPED(status));
    return WSTOPSIG(status);
}

static void queue_signal(pid_t pid, int sig, int value)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = sig;
    info.si_code = SI_QUEUE;
    info.si_value.sival_int = value;
    MUST(syscall(SYS_rt_tgsigqueueinfo, pid, pid, sig, &info) == 0);
}

/* Let it go on until it stops itself, and deliver the signals that come. */
static void run_to_stop(pid_t pid)
{
    int sig = 0;

    do {
        MUST(ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)sig) == 0);
        sig = stopped(pid);
    } while (sig != SIGSTOP);
}

enum { MOST = 20000 };
static uintptr_t address[MOST];     /* of each instruction */
static uintptr_t after_hit[MOST];   /* of each after a hit of a critical section */

static void send_both(pid_t pid, int value)
{
    queue_signal(pid, FIRST, value);
    queue_signal(pid, second, value);
    run_to_stop(pid);
}

#if defined(__x86_64__)
enum { HAS_DEBUG_REGISTERS = 1 };

static uintptr_t place(pid_t pid)
{
    return (uintptr_t)ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user, regs.rip), NULL);
}

static int set_debug_register(pid_t pid, int number, uintptr_t value)
{
    return ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg) + (size_t)number * 8,
                  value) == 0;
}
#else
enum { HAS_DEBUG_REGISTERS = 0 };

static uintptr_t place(pid_t pid)
{
    (void)pid;
    return 0;
}

static int set_debug_register(pid_t pid, int number, uintptr_t value)
{
    (void)pid, (void)number, (void)value;
    return 0;
}
#endif

/* Step through the rest of the operation.  Returns the number of its instructions. */
static int note_all(pid_t pid, uintptr_t *list, int *signals)
{
    int count = 0, sig = 0;

    *signals = 0;
    do {
        MUST(count < MOST);
        list[count++] = place(pid);
        MUST(ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(intptr_t)sig) == 0);
        sig = stopped(pid);
        if (sig == SIGTRAP)
            sig = 0;
        else
            ++*signals;
    } while (sig != SIGSTOP);
    --*signals;
    return count;
}

/* Stop before this instruction.  False: the operation ended before it. */
static int stop_before(pid_t pid, const uintptr_t *list, int instruction)
{
    int earlier = 0, sig = 0;

    for (int i = 0; i < instruction; i++)
        earlier += list[i] == list[instruction];
    if (!set_debug_register(pid, 0, list[instruction]) || !set_debug_register(pid, 7, 1))
        _exit(77);
    do {
        MUST(ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)(sig != SIGTRAP ? sig : 0)) == 0);
        sig = stopped(pid);
    } while (sig != SIGSTOP && (sig != SIGTRAP || earlier-- > 0));
    MUST(set_debug_register(pid, 7, 0));
    return sig == SIGTRAP;
}

/* A child that has done the operation twice, and is about to do it again. */
static pid_t begin(int operation, int *instructions)
{
    pid_t pid = fork();
    int signals;

    MUST(pid >= 0);
    if (pid == 0)
        child(operation);
    MUST(stopped(pid) == SIGSTOP);
    /* The first time the loader resolves symbols. */
    send_both(pid, 1);
    run_to_stop(pid);
    *instructions = note_all(pid, address, &signals);
    send_both(pid, 2);
    return pid;
}

static void end(pid_t pid)
{
    MUST(kill(pid, SIGKILL) == 0);
    MUST(WIFSIGNALED(child_status(pid)));
}

static void step_through(const char *name, int operation)
{
    int instructions, reached = 0;
    pid_t pid;

    second = SIGRTMIN + 3;
    pid = begin(operation, &instructions);
    for (int i = 0; i < instructions; i++) {
        int inside = stop_before(pid, address, i);

        reached += inside;
        send_both(pid, i + 3);
        if (inside)
            run_to_stop(pid);
    }
    end(pid);
    printf("%s: %d of %d instructions\n", name, reached, instructions);
    MUST(reached > instructions / 2);
}

/*
 * Looks for an instruction that is in a section: a signal there comes twice, because it is kept, and
 * delivered at the end.  *count: how many instructions follow.
 */
static int find_section(pid_t pid, int instructions, int *value, int *count)
{
    for (int i = 0; i < instructions; i += 10) {
        int signals = 0;

        if (stop_before(pid, address, i)) {
            queue_signal(pid, FIRST, *value);
            *count = note_all(pid, after_hit, &signals);
            queue_signal(pid, second, (*value)++);
            run_to_stop(pid);
        } else {
            send_both(pid, (*value)++);
        }
        if (signals == 2)
            return i;
    }
    MUST(!"a section was found");
    return 0;
}

static void step_through_after_hit(void)
{
    int instructions, hit, reached = 0, value = 3, count;
    pid_t pid;

    second = SIGBUS;
    pid = begin(1, &instructions);
    hit = find_section(pid, instructions, &value, &count);
    for (int i = 0; i < count; i++) {
        int inside = stop_before(pid, address, hit);

        if (inside) {
            queue_signal(pid, FIRST, value);
            inside = stop_before(pid, after_hit, i);
            queue_signal(pid, second, value++);
            run_to_stop(pid);
        } else {
            send_both(pid, value++);
        }
        reached += inside;
        if (inside)
            run_to_stop(pid);
    }
    end(pid);
    printf("after a hit: %d of %d instructions\n", reached, count);
    MUST(reached > count / 2);
}

int main(void)
{
    if (!HAS_DEBUG_REGISTERS)
        return 77;
    alarm(TIMEOUT_S);
    step_through("post", 0);
    step_through("wait", 1);
    step_through("getvalue", 2);
    step_through_after_hit();
    return 0;
}
