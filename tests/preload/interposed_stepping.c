/* SPDX-License-Identifier: MIT */
/* interposed_stepping.c - stop a child before a chosen instruction: see interposed.h. */
#include "interposed.h"

#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

/* Wait until the child stops.  Returns the signal.  If the child exits with 77, this process does, too. */
static int stopped(pid_t pid)
{
    int status = child_status(pid);

    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        _exit(SKIPPED);
    MUST(WIFSTOPPED(status));
    return WSTOPSIG(status);
}

pid_t begin_traced(void (*run)(const void *), const void *arg)
{
    pid_t pid = fork();

    MUST(pid >= 0);
    if (pid == 0) {
        hang_alarm();
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(skip_program("ptrace does not work here"));
        run(arg);
        _exit(0);
    }
    MUST(stopped(pid) == SIGSTOP);
    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(intptr_t)PTRACE_O_EXITKILL);
    return pid;
}

void end_traced(pid_t pid)
{
    MUST(kill(pid, SIGKILL) == 0);
    MUST(WIFSIGNALED(child_status(pid)));
}

void run_to_stop(pid_t pid)
{
    int sig = 0;

    do {
        MUST(ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)sig) == 0);
        sig = stopped(pid);
    } while (sig != SIGSTOP);
}

#if defined(__x86_64__)

static uintptr_t place(pid_t pid)
{
    return (uintptr_t)ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user, regs.rip), NULL);
}

static int set_debug_register(pid_t pid, int number, uintptr_t value)
{
    return ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg) + (size_t)number * 8,
                  value) == 0;
}

static void __attribute__((noinline)) be_hit(void)
{
    __asm__ volatile("nop");
}

/* Do breakpoints work?  Some virtual machines accept a breakpoint, but it never stops the child. */
static bool can_step(void)
{
    pid_t pid = fork();
    int status;

    MUST(pid >= 0);
    if (pid == 0) {
        MUST(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0);
        be_hit();
        _exit(0);
    }
    MUST(stopped(pid) == SIGSTOP);
    (void)(set_debug_register(pid, 0, (uintptr_t)be_hit) && set_debug_register(pid, 7, 1));
    MUST(ptrace(PTRACE_CONT, pid, NULL, NULL) == 0);
    status = child_status(pid);
    if (WIFEXITED(status))
        return false;
    MUST(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
    MUST(kill(pid, SIGKILL) == 0);
    (void)child_status(pid);
    return true;
}
#else
static bool can_step(void)
{
    return false;
}

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

void needs_steps(void)
{
    if (!can_step())
        exit(program_not_here("no breakpoints of the processor, or not x86-64"));
}

int note_all(pid_t pid, uintptr_t *list, int *signals)
{
    int count = 0, sig = 0;

    *signals = 0;
    do {
        MUST(count < STEPS_MOST);
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

bool stop_before(pid_t pid, const uintptr_t *list, int instruction)
{
    int earlier = 0, sig = 0;

    for (int i = 0; i < instruction; i++)
        earlier += list[i] == list[instruction];
    if (!set_debug_register(pid, 0, list[instruction]) || !set_debug_register(pid, 7, 1))
        _exit(skip_program("ptrace sets no breakpoints here"));
    do {
        MUST(ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)(sig != SIGTRAP ? sig : 0)) == 0);
        sig = stopped(pid);
    } while (sig != SIGSTOP && (sig != SIGTRAP || earlier-- > 0));
    MUST(set_debug_register(pid, 7, 0));
    return sig == SIGTRAP;
}
