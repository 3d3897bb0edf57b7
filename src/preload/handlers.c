/* SPDX-License-Identifier: MIT */
/*
 * handlers.c - no handler of the program inside a critical section: the handler is deferred, not the
 * signal.
 *
 * A handler must not run while its thread is in a critical section of a semaphore.  It could post
 * the same semaphore, and wait for ever for a mutex that its own thread holds.  Or it could wait
 * for a thread that its own thread was about to wake.  To block signals around each section costs
 * two system calls, and makes the kernel deliver signals to other threads than before.
 *
 * THE LIFE OF A SIGNAL, in the order of this file.  What happens depends on one word of the thread,
 * `sections`:
 *
 *   1  The program installs a handler.  actions.c gives the kernel fs_trampoline() instead, with the
 *      program's mask and flags.
 *
 *   2  The signal comes outside a section, as nearly always.  The trampoline jumps to the program's
 *      handler.  The handler has the kernel's frame, its own arguments, and no frame of ours below it.
 *
 *   3  Or it hits a section.  The trampoline keeps the siginfo and fills the mask of the context to
 *      which it will return (uc_sigmask).  The return from the handler loads that mask.  So for the
 *      rest of the section, some 100 ns, nothing else comes.
 *
 *   4  The section ends.  fs_section_leave() sends the thread, by tgkill(), each signal number of
 *      which it has kept something: a marker.  Then it restores the mask, and so the kernel delivers
 *      the markers at once, before it returns.
 *
 *   5  The marker comes.  The trampoline replaces the siginfo of the marker by the oldest that was
 *      kept for this number, and jumps to the program's handler.
 *
 *   6  Or no marker comes, because a sandbox refuses tgkill().  Then the end of the section calls the
 *      handler itself.  The handler has the thread's own stack and more signals blocked than it asked
 *      for, and cannot change its context.
 *
 *   7  The handler returns, or leaves by siglongjmp(), perhaps over a wait: jumps.c.
 *
 * Except in 6 the kernel calls the handler, not this module.  So the handler has a true context: the
 * kernel sets up its mask and its alternate stack, applies what it changes in its context, and ends
 * it, as without this module.  And nothing is lost if it leaves by siglongjmp().
 *
 * Signals that the thread's own instructions raise are not deferred (for instance a SIGSEGV whose
 * si_code says that the kernel made it).  The instruction would only fault again.
 *
 * No system call happens unless a signal hits a section.  Then there are some of these:
 * rt_sigprocmask, rt_sigreturn, getpid, gettid, tgkill.  They are what raise() and every handler
 * need, so a sandbox that lets a program use signals allows them.  (rt_tgsigqueueinfo, which could
 * carry the siginfo through the kernel, is often forbidden; and it would put a real-time signal
 * behind those that were queued later.)
 *
 * WHY NOTHING RACES.  All state belongs to one thread, and only its own handlers interrupt it.  A
 * handler runs between two instructions, and completes before the next one, so memory orders do not
 * matter; only the compiler must not reorder accesses (atomic_signal_fence).
 *
 *   - `sections` changes at the ends of a section, and each handler leaves it as it found it.
 *   - The list of kept signals changes only while all signals are blocked: in the trampoline after
 *     block_all(), in fs_section_leave() because something was kept.  Until block_all() a second
 *     trampoline may interrupt the first.  It completes its work, and returns to the first with a
 *     full mask.
 *   - The mask to restore is the one that the section had.  Of two nested trampolines the inner one
 *     sees a larger mask: the one that the kernel made for the outer handler.  So the open signals
 *     are collected (`open`, a union): the outer one always adds what the section had.
 *   - A signal that comes between the decrement of `sections` and the check whether something was
 *     kept finds the thread outside, and its handler runs.  If the section has been hit, only one
 *     of the synchronous signals can come, sent by kill().  It is kept, too (`hit`); otherwise a
 *     section in its handler would restore the mask, and take `open` from the section outside.
 *
 * A handler that a program installs by the bare system call has no trampoline.  It runs inside
 * sections as well, and must not use semaphores.  A section must not be left by a jump from a
 * handler of a synchronous signal.  Nothing in a section faults: it accesses the cells, and the
 * stacks of threads that wait, but no sem_t, which may be in memory that the program has protected.
 */
#define _GNU_SOURCE
#include "handlers.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK     /* glibc has it since 2.27 */
#define MADV_WIPEONFORK 18
#endif

#define BIT(sig) (UINT64_C(1) << ((sig) - 1))

/* Signals that a thread's own instructions can raise. */
#define SYNCHRONOUS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) \
                     | BIT(SIGSYS))

/* glibc uses these two to cancel threads, and to change the user IDs of all threads. */
#define OF_LIBC (BIT(32) | BIT(33))

/* Blocked from the first signal that hits a section to the end of the section. */
#define DEFERRABLE (~(SYNCHRONOUS | OF_LIBC))

#define EVERYTHING (~UINT64_C(0))

/*
 * The part of a siginfo_t that the kernel uses; the rest is zero.  It is small because the loader
 * has little thread-local room for a module that is loaded later, as fairsem-run loads this one to
 * try it.
 */
struct kept {
    uint64_t bytes[6];
};
static_assert(sizeof(struct kept) <= sizeof(siginfo_t) && offsetof(siginfo_t, si_signo) == 0,
              "a siginfo_t is smaller than that, or begins with something else");

/* For what only a signal in a section needs: no other signal or section pays for its frame. */
#define RARE __attribute__((noinline, cold))

/* Usually one; a few, if signals come in the same instant. */
#define MOST_KEPT 7

static _Thread_local struct {
    volatile int          sections; /* how many this thread is in */
    volatile sig_atomic_t kept;     /* entries of oldest_first[] */
    volatile sig_atomic_t hit;      /* the section in which this thread is has been hit */
    uint64_t              open;     /* if hit: what the section did not have blocked */
    uint64_t              marked;   /* the numbers of which a marker is on its way */
    struct kept           oldest_first[MOST_KEPT];
} self __attribute__((tls_model("initial-exec")));

struct fs_installed fs_installed[FS_SIGNALS];
fs_handler_fn *(*fs_reset_handler)(int sig);

void (*fs_note_handler)(bool restarts);

/* ---- The kernel's masks have 64 bits; those of the C library are longer ---- */

static void change_mask(int how, uint64_t mask, uint64_t *before)
{
    syscall(SYS_rt_sigprocmask, how, &mask, before, sizeof mask);
}

/* Returns what was blocked before. */
static uint64_t block_all(void)
{
    uint64_t before = 0;

    change_mask(SIG_BLOCK, EVERYTHING, &before);
    return before;
}

static uint64_t mask_to_return_to(const ucontext_t *context)
{
    uint64_t mask;

    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    return mask;
}

static void return_to_mask(ucontext_t *context, uint64_t mask)
{
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
}

/* ---- What a thread keeps; all signals are blocked ---- */

static void append(const void *info)
{
    memcpy(&self.oldest_first[self.kept], info, sizeof self.oldest_first[0]);
    self.kept = self.kept + 1;
}

static int signal_at(int i)
{
    int number;

    memcpy(&number, &self.oldest_first[i], sizeof number);
    return number;
}

/* The oldest with this number, or -1. */
static int find_deferred(int sig)
{
    for (int i = 0; i < self.kept; i++) {
        if (signal_at(i) == sig)
            return i;
    }
    return -1;
}

static void copy_out(int i, siginfo_t *info)
{
    memset(info, 0, sizeof *info);
    memcpy(info, &self.oldest_first[i], sizeof self.oldest_first[i]);
}

static void take_out(int i)
{
    self.kept = self.kept - 1;
    memmove(&self.oldest_first[i], &self.oldest_first[i + 1],
            (size_t)(self.kept - i) * sizeof self.oldest_first[0]);
}

/* ---- Markers ---- */

/*
 * Send this thread a signal; with its siginfo, if that is not NULL.  False: it is not allowed.  A
 * sandbox may answer by SIGSYS, which ends the process if it is blocked.
 */
static bool send(int sig, siginfo_t *info)
{
    long process = syscall(SYS_getpid), thread = syscall(SYS_gettid), result;
    uint64_t before = 0;

    change_mask(SIG_UNBLOCK, BIT(SIGSYS), &before);
    result = info != NULL ? syscall(SYS_rt_tgsigqueueinfo, process, thread, sig, info)
                          : syscall(SYS_tgkill, process, thread, sig);
    change_mask(SIG_SETMASK, before, NULL);
    return result == 0;
}

/*
 * Send this thread a marker.  The kernel may refuse a real-time signal if too many are queued
 * (RLIMIT_SIGPENDING).  It never refuses one that says it was sent by kill().
 */
static RARE void mark(int sig)
{
    siginfo_t as_by_kill;

    memset(&as_by_kill, 0, sizeof as_by_kill);
    as_by_kill.si_signo = sig;
    as_by_kill.si_code = SI_USER;
    if (send(sig, NULL) || send(sig, &as_by_kill))
        self.marked |= BIT(sig);
}

/*
 * A signal of the program that looks like this may be taken for a marker.  That does no harm: it
 * has no more information than a marker, so it does not matter which of the two comes first.
 */
static bool is_marker(const siginfo_t *info)
{
    return (info->si_code == SI_TKILL && info->si_pid == (pid_t)syscall(SYS_getpid))
           || (info->si_code == SI_USER && info->si_pid == 0);
}

/* ---- 2: the signal comes ---- */

static int always = 1;
static int *is_known = &always;     /* 0: a child, right after the fork: see the end */
static void (*after_fork)(void);

static RARE void defer(int sig, siginfo_t *info, ucontext_t *context);
static RARE void exchange_for_kept(int sig, siginfo_t *info);

/* Returns true if the handler is to run now. */
static inline bool may_run(int sig, siginfo_t *info, void *context)
{
    if (*is_known == 0)
        after_fork();
    if (self.sections == 0 && self.hit == 0) {
        if (self.kept != 0)
            exchange_for_kept(sig, info);
        return true;
    }
    if ((BIT(sig) & SYNCHRONOUS) != 0 && info->si_code > 0)
        return true;
    defer(sig, info, context);
    return false;
}

/*
 * Its handler; NULL: another thread has changed the disposition since the kernel chose this one.
 *
 * The kernel would reset the disposition before it calls a handler with SA_RESETHAND.  A marker
 * would then find the default, and kill the process.  So the disposition is reset here, when the
 * program's handler is about to run.
 */
static inline fs_handler_fn *handler_to_run(int sig)
{
    /* Relaxed: both were stored before the kernel got the trampoline. */
    int flags = atomic_load_explicit(&fs_installed[sig].flags, memory_order_relaxed);
    fs_handler_fn *handler = atomic_load_explicit(&fs_installed[sig].handler, memory_order_relaxed);

    if ((flags & (int)SA_RESETHAND) != 0) {
        int error = errno;

        handler = fs_reset_handler(sig);
        errno = error;
    }
    if (handler != NULL && fs_note_handler != NULL)
        fs_note_handler((flags & SA_RESTART) != 0);
    return handler;
}

/*
 * The call is the last thing that it does, so that the compiler turns it into a jump.  Without a
 * handler the thread sends itself the signal again, which then has its new disposition.
 */
void fs_trampoline(int sig, siginfo_t *info, void *context)
{
    fs_handler_fn *handler;

    if (!may_run(sig, info, context))
        return;
    handler = handler_to_run(sig);
    if (handler != NULL)
        handler(sig, info, context);
    else
        send(sig, NULL);
}

/* ---- 3: it hits a section ---- */

/*
 * If there is no room, the signal goes back to the kernel at once.  It is blocked until the end of
 * the section, and is delivered again there.
 */
static void defer(int sig, siginfo_t *info, ucontext_t *context)
{
    int error = errno;

    block_all();
    if ((self.marked & BIT(sig)) != 0 && is_marker(info) && find_deferred(sig) >= 0)
        self.marked &= ~BIT(sig);   /* of an earlier section, which a handler left by a jump */
    else if (self.kept < MOST_KEPT)
        append(info);
    else if (!send(sig, info))
        send(sig, NULL);
    self.open |= ~mask_to_return_to(context);
    self.hit = 1;
    return_to_mask(context, mask_to_return_to(context) | DEFERRABLE | BIT(sig));
    errno = error;
}

/* ---- 4: the section ends ---- */

static void forget_ignored(uint64_t open);
static void run_unmarked(uint64_t open);

void fs_section_enter(void)
{
    self.sections = self.sections + 1;
    atomic_signal_fence(memory_order_seq_cst);
}

/* The section has ended: send the markers, and let them in. */
static RARE void deliver(void)
{
    int error = errno;
    uint64_t open;

    block_all();
    open = self.open;
    for (int i = 0; i < self.kept; i++) {
        int sig = signal_at(i);

        if ((self.marked & BIT(sig)) == 0)
            mark(sig);
    }
    self.open = 0;
    self.hit = 0;
    change_mask(SIG_SETMASK, ~open, NULL);
    if (self.kept != 0) {
        forget_ignored(open);
        run_unmarked(open);
    }
    errno = error;
}

void fs_section_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    self.sections = self.sections - 1;
    atomic_signal_fence(memory_order_seq_cst);
    if (self.hit != 0 && self.sections == 0)
        deliver();
}

/* ---- 5: the marker comes ---- */

/*
 * No section, but signals are kept.  If this signal is a marker, replace its siginfo by the oldest
 * one that was kept.
 *
 * If it is not a marker, the oldest still goes first, and this one is kept in its place.  The
 * marker of a real-time signal is then still queued behind it.  Of any other signal the kernel
 * queues only one for a thread, so there is no marker any more.
 */
static void exchange_for_kept(int sig, siginfo_t *info)
{
    int error = errno;
    uint64_t before = block_all();
    int i = find_deferred(sig);

    if (i >= 0) {
        bool marker = is_marker(info);
        struct kept came;

        memcpy(&came, info, sizeof came);
        copy_out(i, info);
        take_out(i);
        if (!marker)
            append(&came);
        if (marker || sig < SIGRTMIN)
            self.marked &= ~BIT(sig);
        if ((self.marked & BIT(sig)) == 0 && find_deferred(sig) >= 0)
            mark(sig);              /* it comes when the program's handler has returned */
    }
    change_mask(SIG_SETMASK, before, NULL);
    errno = error;
}

/* ---- 6: no marker has come ---- */

/*
 * All markers have been delivered, except those whose signal the thread has blocked in a handler.
 * If a signal is still kept, the program ignores it by now, and the kernel has discarded the
 * marker.
 */
static void forget_ignored(uint64_t open)
{
    uint64_t before = block_all();

    for (int i = self.kept - 1; i >= 0; i--) {
        int sig = signal_at(i);

        if ((open & self.marked & BIT(sig)) != 0) {
            take_out(i);
            self.marked &= ~BIT(sig);
        }
    }
    change_mask(SIG_SETMASK, before, NULL);
}

/* The oldest for which there is no marker, or -1. */
static int find_unmarked(uint64_t open)
{
    for (int i = 0; i < self.kept; i++) {
        if ((open & ~self.marked & BIT(signal_at(i))) != 0)
            return i;
    }
    return -1;
}

static void call_handler(int sig, siginfo_t *info, uint64_t mask)
{
    fs_handler_fn *handler;
    ucontext_t context;

    if (getcontext(&context) != 0)
        return;
    return_to_mask(&context, mask);
    handler = handler_to_run(sig);
    if (handler != NULL)
        handler(sig, info, &context);
}

/* Handlers that are called here do not interrupt each other. */
static void run_unmarked(uint64_t open)
{
    uint64_t before = block_all();
    int i;

    while ((i = find_unmarked(open)) >= 0) {
        siginfo_t info;

        copy_out(i, &info);
        take_out(i);
        change_mask(SIG_SETMASK, before | DEFERRABLE, NULL);
        call_handler(info.si_signo, &info, before);
        block_all();
    }
    change_mask(SIG_SETMASK, before, NULL);
}

/* ---- A signal comes in a child, right after the fork ---- */

/*
 * The kernel gives a child such memory as zeros (since Linux 4.14).  Where it does not, a handler
 * that runs so early must not use a semaphore that another thread of the parent was using.
 */
void fs_handlers_prepare(void (*call)(void))
{
    int *map = mmap(NULL, sizeof *map, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    after_fork = call;
    if (map == MAP_FAILED)
        return;
    if (madvise(map, sizeof *map, MADV_WIPEONFORK) == 0) {
        *map = 1;
        is_known = map;
    } else {
        munmap(map, sizeof *map);
    }
}

void fs_handlers_in_child(void)
{
    *is_known = 1;
    self.kept = 0;
    self.marked = 0;
}
