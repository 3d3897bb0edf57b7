/* SPDX-License-Identifier: MIT */
/*
 * handlers.c - no signal handler of the program runs inside a critical section: a handler is deferred to the
 * end of the section.
 *
 * A handler that ran inside a critical section of a semaphore could post the same semaphore, and wait for ever
 * for a mutex that its own thread holds.  Or the handler could wait for a thread that its own thread was about
 * to wake.  Blocking signals around each section would cost two system calls, and make the kernel deliver
 * signals to other threads.
 *
 * THE LIFE OF A SIGNAL, in the order of this file.  A counter of the thread, `sections`, decides between
 * the steps 2 and 3.
 *
 *   1  The program installs a handler.  actions.c gives the kernel fs_trampoline() instead of the handler, with
 *      the program's mask and flags.
 *
 *   2  Nearly always, the signal comes outside a section.  The trampoline jumps to the program's handler, which
 *      has the kernel's frame and arguments, and no frame of ours below it.
 *
 *   3  Rarely, the signal interrupts a section.  The trampoline saves the siginfo, and blocks signals in the
 *      context to which it returns (uc_sigmask).  So no other signal comes in the rest of the section, which
 *      takes some 100 ns.
 *
 *   4  The section ends.  fs_section_leave() re-raises each deferred signal number: it sends this thread the
 *      signal again, by tgkill().  Then fs_section_leave() restores the mask, by a system call during which the
 *      kernel delivers the re-raised signals.
 *
 *   5  The re-raised signal comes.  The trampoline replaces its siginfo by that of the oldest deferred signal
 *      with this number, and jumps to the program's handler.
 *
 *   6  If a sandbox refuses tgkill(), fs_section_leave() calls the handler itself.  The handler runs on the
 *      thread's own stack, with more signals blocked than the program requested, and its changes to the
 *      context are lost.
 *
 *   7  The handler returns, or leaves by siglongjmp(), perhaps over a wait: jumps.c.
 *
 * Except in step 6, the handler runs on the frame that the kernel has made for the signal.  So the kernel sets
 * up the handler's mask and alternate stack, and applies the handler's changes to the context when the handler
 * returns.  And nothing is lost if the handler leaves by siglongjmp().
 *
 * A signal that the thread's own instruction raises, such as a SIGSEGV with a si_code of the kernel, is not
 * deferred: after the return of the trampoline, the instruction would only fault again.
 *
 * Once prepared, this file makes system calls only if a signal interrupts a section, or comes while another
 * thread changes its disposition: rt_sigprocmask, rt_sigreturn, getpid, gettid, tgkill.  raise() and every
 * handler need these calls, so a sandbox that lets a program use signals allows them.  rt_tgsigqueueinfo, which
 * also carries the siginfo, is often forbidden.
 *
 * WHY NOTHING RACES.  All state belongs to one thread, and only handlers of this thread interrupt its accesses.
 * A handler completes before the next instruction, so memory orders do not matter; only the compiler must not
 * reorder accesses (atomic_signal_fence).
 *
 *   - `sections` changes at the start and the end of a section, and each handler leaves it unchanged.
 *   - The list of deferred signals changes only while all signals are blocked: in the trampoline after
 *     block_all(), and in fs_section_leave().  Before block_all(), a second trampoline may interrupt the first.
 *     The second trampoline then runs to its end, and returns to the first with signals blocked.
 *   - The mask to restore is the mask of the interrupted section.  Of two nested trampolines, only the outer
 *     one finds this mask; the inner one finds a larger mask, which the kernel has set for the outer one.  So
 *     `to_unblock` is the union of the signals that the trampolines found unblocked.
 *   - fs_section_leave() decrements `sections`, and then checks `interrupted`.  If `interrupted` is set, the
 *     program's signals are blocked, except synchronous ones.  So between these two steps only a synchronous
 *     signal can come, sent by kill().  This signal is deferred, too: otherwise a section in its handler would
 *     restore the mask, and clear the `to_unblock` of the outer section.
 *
 * A handler that is installed by the bare system call has no trampoline: it also runs inside sections, and must
 * not use semaphores.  A handler of a synchronous signal must not leave a section by a jump.  No section
 * faults: sections access no sem_t, which may be in memory that the program has protected.
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

/* glibc uses these two signals to cancel threads, and to change the user IDs of all threads. */
#define OF_LIBC (BIT(32) | BIT(33))

/* Signals that are blocked from the first signal that interrupts a section to the end of the section. */
#define DEFERRABLE (~(SYNCHRONOUS | OF_LIBC))

#define EVERYTHING (~UINT64_C(0))

/*
 * The part of a siginfo_t that the kernel uses; the rest is zero.  The list of deferred signals must be small:
 * fairsem-run tests this module by dlopen(), and the loader has little thread-local memory for such a module.
 */
struct deferred {
    uint64_t bytes[6];
};
static_assert(sizeof(struct deferred) <= sizeof(siginfo_t) && offsetof(siginfo_t, si_signo) == 0,
              "a siginfo_t is smaller than struct deferred, or begins with something else");

/* Marks functions that run only after a signal in a section: nothing else pays for their frames. */
#define RARE __attribute__((noinline, cold))

/* The size of the list of deferred signals.  Usually one entry is used, more if signals come together. */
#define MAX_DEFERRED 7

static _Thread_local struct {
    volatile int          sections;     /* the number of nested sections of this thread */
    volatile sig_atomic_t deferred;     /* the number of signals in oldest_first[] */
    volatile sig_atomic_t interrupted;  /* a signal has come in this section */
    uint64_t              to_unblock;   /* if interrupted: the signals to unblock when the section ends */
    uint64_t              reraised;     /* the signal numbers that were sent again, and have not come yet */
    struct deferred       oldest_first[MAX_DEFERRED];
} self __attribute__((tls_model("initial-exec")));

struct fs_installed fs_installed[FS_SIGNALS];
fs_handler_fn *(*fs_reset_handler)(int sig);

void (*fs_note_handler)(bool restarts);

/* ---- The kernel's masks have 64 bits; those of the C library are longer ---- */

static void change_mask(int how, uint64_t mask, uint64_t *before)
{
    syscall(SYS_rt_sigprocmask, how, &mask, before, sizeof mask);
}

/* Block all signals.  Returns the previous mask. */
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

/* ---- The deferred signals of a thread; all signals are blocked ---- */

static void append(const void *info)
{
    memcpy(&self.oldest_first[self.deferred], info, sizeof self.oldest_first[0]);
    self.deferred = self.deferred + 1;
}

static int signal_at(int i)
{
    int number;

    memcpy(&number, &self.oldest_first[i], sizeof number);
    return number;
}

static int find_deferred(int sig)
{
    for (int i = 0; i < self.deferred; i++) {
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
    self.deferred = self.deferred - 1;
    memmove(&self.oldest_first[i], &self.oldest_first[i + 1],
            (size_t)(self.deferred - i) * sizeof self.oldest_first[0]);
}

/* ---- Re-raised signals ---- */

/*
 * Send this thread a signal, with `info` if it is not NULL.  Returns false if a sandbox refuses the system
 * call.  The sandbox may raise SIGSYS, which would end the process if SIGSYS were blocked.
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
 * Send a deferred signal again.  The kernel may refuse a real-time signal if too many are queued
 * (RLIMIT_SIGPENDING).  It never refuses a signal whose si_code says that kill() sent it.
 */
static RARE void reraise(int sig)
{
    siginfo_t as_by_kill;

    memset(&as_by_kill, 0, sizeof as_by_kill);
    as_by_kill.si_signo = sig;
    as_by_kill.si_code = SI_USER;
    if (send(sig, NULL) || send(sig, &as_by_kill))
        self.reraised |= BIT(sig);
}

/*
 * Is this a re-raised signal?  A signal that the program has sent may look like a re-raised one.  This does no
 * harm: the two signals have the same siginfo, so their order does not matter.
 */
static bool is_reraised(const siginfo_t *info)
{
    return (info->si_code == SI_TKILL && info->si_pid == (pid_t)syscall(SYS_getpid))
           || (info->si_code == SI_USER && info->si_pid == 0);
}

/* ---- 2: the signal comes ---- */

static int always = 1;
static int *is_known = &always; /* points to 0 in a child until after_fork(): see fs_handlers_prepare() */
static void (*after_fork)(void);

static RARE void defer(int sig, siginfo_t *info, ucontext_t *context);
static RARE void exchange_for_deferred(int sig, siginfo_t *info);

/* Returns true if the handler must run now, false if the signal has been deferred. */
static inline bool admit(int sig, siginfo_t *info, void *context)
{
    if (*is_known == 0)
        after_fork();
    if (self.sections == 0 && self.interrupted == 0) {
        if (self.deferred != 0)
            exchange_for_deferred(sig, info);
        return true;
    }
    if ((BIT(sig) & SYNCHRONOUS) != 0 && info->si_code > 0)
        return true;
    defer(sig, info, context);
    return false;
}

/*
 * Returns the program's handler; with SA_RESETHAND, returns NULL if another thread has changed the disposition
 * since the kernel chose the trampoline.
 *
 * With SA_RESETHAND, the kernel would reset the disposition before the trampoline runs.  A re-raised signal
 * would then find the default disposition, and kill the process.  So the disposition is reset here, just before
 * the program's handler runs.
 */
static inline fs_handler_fn *handler_to_run(int sig)
{
    /* Relaxed: both values were stored before the kernel got the trampoline. */
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
 * The handler is called last, so that the compiler turns the call into a jump.  If the disposition has changed,
 * the thread sends itself the signal again, and the kernel applies the new disposition.
 */
void fs_trampoline(int sig, siginfo_t *info, void *context)
{
    fs_handler_fn *handler;

    if (!admit(sig, info, context))
        return;
    handler = handler_to_run(sig);
    if (handler != NULL)
        handler(sig, info, context);
    else
        send(sig, NULL);
}

/* ---- 3: it interrupts a section ---- */

/*
 * Defer a signal.  If the list is full, the thread sends itself the signal again.  This signal is blocked until
 * the end of the section, where the kernel delivers it.
 */
static void defer(int sig, siginfo_t *info, ucontext_t *context)
{
    int error = errno;

    block_all();
    if ((self.reraised & BIT(sig)) != 0 && is_reraised(info) && find_deferred(sig) >= 0)
        self.reraised &= ~BIT(sig); /* re-raised by an earlier section that a jump left: still in the list */
    else if (self.deferred < MAX_DEFERRED)
        append(info);
    else if (!send(sig, info))
        send(sig, NULL);
    self.to_unblock |= ~mask_to_return_to(context);
    self.interrupted = 1;
    return_to_mask(context, mask_to_return_to(context) | DEFERRABLE | BIT(sig));
    errno = error;
}

/* ---- 4: the section ends ---- */

static void forget_discarded(uint64_t to_unblock);
static void run_unsent(uint64_t to_unblock);

void fs_section_enter(void)
{
    self.sections = self.sections + 1;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Send the deferred signals again, and unblock them. */
static RARE void deliver(void)
{
    int error = errno;
    uint64_t to_unblock;

    block_all();
    to_unblock = self.to_unblock;
    for (int i = 0; i < self.deferred; i++) {
        int sig = signal_at(i);

        if ((self.reraised & BIT(sig)) == 0)
            reraise(sig);
    }
    self.to_unblock = 0;
    self.interrupted = 0;
    change_mask(SIG_SETMASK, ~to_unblock, NULL);
    if (self.deferred != 0) {
        forget_discarded(to_unblock);
        run_unsent(to_unblock);
    }
    errno = error;
}

void fs_section_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    self.sections = self.sections - 1;
    atomic_signal_fence(memory_order_seq_cst);
    if (self.interrupted != 0 && self.sections == 0)
        deliver();
}

/* ---- 5: the re-raised signal comes ---- */

/*
 * A signal has come outside a section while signals are deferred.  If this signal is re-raised, replace its
 * siginfo by that of the oldest deferred signal with the same number.
 *
 * If this signal is new, the handler also gets the oldest deferred siginfo with the same number, and the new
 * siginfo is appended to the list.  If the number is real-time, the re-raised signal is still queued behind the
 * new one.  Of any other number the kernel queues only one signal for a thread, and has dropped the re-raised
 * signal.
 */
static void exchange_for_deferred(int sig, siginfo_t *info)
{
    int error = errno;
    uint64_t before = block_all();
    int i = find_deferred(sig);

    if (i >= 0) {
        bool reraised = is_reraised(info);
        struct deferred came;

        memcpy(&came, info, sizeof came);
        copy_out(i, info);
        take_out(i);
        if (!reraised)
            append(&came);
        if (reraised || sig < SIGRTMIN)
            self.reraised &= ~BIT(sig);
        if ((self.reraised & BIT(sig)) == 0 && find_deferred(sig) >= 0)
            reraise(sig);           /* delivered after the program's handler, or with SA_NODEFER at once */
    }
    change_mask(SIG_SETMASK, before, NULL);
    errno = error;
}

/* ---- 6: the re-raised signal has not come ---- */

/*
 * Remove re-raised signals that the kernel has discarded, because the program now ignores them.  Each other
 * re-raised signal has been delivered by now, or is blocked by the handler that the section is in.  A signal in
 * `to_unblock` is not blocked.
 */
static void forget_discarded(uint64_t to_unblock)
{
    uint64_t before = block_all();

    for (int i = self.deferred - 1; i >= 0; i--) {
        int sig = signal_at(i);

        if ((to_unblock & self.reraised & BIT(sig)) != 0) {
            take_out(i);
            self.reraised &= ~BIT(sig);
        }
    }
    change_mask(SIG_SETMASK, before, NULL);
}

/* Returns the index of the oldest deferred signal that could not be sent again, or -1. */
static int find_unsent(uint64_t to_unblock)
{
    for (int i = 0; i < self.deferred; i++) {
        if ((to_unblock & ~self.reraised & BIT(signal_at(i))) != 0)
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

/* Call the handlers of signals that could not be sent again.  These handlers do not interrupt each other. */
static void run_unsent(uint64_t to_unblock)
{
    uint64_t before = block_all();
    int i;

    while ((i = find_unsent(to_unblock)) >= 0) {
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
 * A child recognizes itself by memory with MADV_WIPEONFORK (since Linux 4.14), which is zero after a fork.  On
 * an older kernel, a signal handler that runs before the handlers of pthread_atfork() must not use a semaphore
 * that another thread of the parent was using.
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

/*
 * The parent's deferred signals are not the child's.  A signal that comes before the last store calls
 * after_fork() again, so its handler never gets the siginfo of one of the parent's signals.
 */
void fs_handlers_in_child(void)
{
    self.deferred = 0;
    self.reraised = 0;
    atomic_signal_fence(memory_order_seq_cst);
    *is_known = 1;
}
