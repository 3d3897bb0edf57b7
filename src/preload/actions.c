/* SPDX-License-Identifier: MIT */
/*
 * actions.c - wrappers of sigaction() and its relatives.  They give the kernel a trampoline instead of the
 * program's handler: step 1 of the life of a signal in handlers.c.
 *
 * The kernel applies the program's flags and mask to the trampoline, except for two flags.  This file stores
 * the handler, SA_RESTART and these two flags:
 *
 *      SA_SIGINFO      is always set in the kernel, because the trampoline needs the siginfo
 *      SA_RESETHAND    is never set in the kernel: fs_trampoline() resets the action itself
 *
 * A program that reads an action gets the action that it has installed.
 *
 * A handler may call sigaction(), so the lock of this file is held only inside a section (handlers.h), where no
 * handler runs.  glibc's own calls of sigaction(), as in siginterrupt() and sigignore(), bypass this file: they
 * change the action in the kernel, but not the stored handler.
 */
#define _GNU_SOURCE
#include "actions.h"

#include "handlers.h"
#include "next.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEPT_HERE ((int)(SA_SIGINFO | SA_RESETHAND))

static struct {
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    int (*siginterrupt)(int, int);
} libc;

static _Atomic int   locked;                /* an int: some machines cannot exchange a byte atomically */
static _Atomic pid_t process;               /* the process whose actions are stored */
static _Atomic char  interrupts[FS_SIGNALS];    /* by siginterrupt(): signal() must not set SA_RESTART */

/*
 * Call this function inside a section.  A thread that finds the lock taken sleeps for a short time.  This is
 * enough, because the lock is rarely taken, and for at most two system calls.  A pthread mutex may not work
 * yet: see fs_find_once().
 */
static void lock(void)
{
    const struct timespec moment = { .tv_nsec = 50000 };

    while (atomic_exchange_explicit(&locked, 1, memory_order_acquire))
        syscall(SYS_nanosleep, &moment, NULL);
}

static void unlock(void)
{
    atomic_store_explicit(&locked, 0, memory_order_release);
}

/*
 * Is this a child that has not run fs_actions_in_child()?  Such a child has its own actions, and must not take
 * the lock.  A child of vfork() shares memory with its parent, where the lock would stay taken if the child
 * were killed.  In a child of _Fork() or of a bare clone(), a thread of the parent may hold the lock.
 */
static bool is_other_process(void)
{
    return (pid_t)syscall(SYS_getpid) != process;
}

/* ---- An action as the program sees it, and as the kernel does ---- */

static bool has_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN
           && action->sa_handler != SIG_ERR;
}

/* Store the handler before the kernel gets the trampoline, because a signal may come at once. */
static void replace_handler(int sig, struct sigaction *action)
{
    fs_installed[sig].handler = action->sa_sigaction;
    fs_installed[sig].flags = action->sa_flags & (KEPT_HERE | SA_RESTART);
    action->sa_sigaction = fs_trampoline;
    action->sa_flags = (action->sa_flags & ~KEPT_HERE) | SA_SIGINFO;
}

/* Undo replace_handler(); `handler` and `flags` are those of the program. */
static void show(struct sigaction *action, fs_handler_fn *handler, int flags)
{
    if (action->sa_sigaction == fs_trampoline) {
        action->sa_sigaction = handler;
        action->sa_flags = (action->sa_flags & ~KEPT_HERE) | (flags & KEPT_HERE);
    }
}

/*
 * Take the lock, before fs_installed is changed.  Returns false, without the lock, in a child that must not
 * take the lock.  Cancellation is deferred until end_change(): see src/core/signals.h.
 */
static bool begin_change(int *cancel_type)
{
    if (is_other_process())
        return false;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, cancel_type);
    fs_section_enter();
    lock();
    return true;
}

static void end_change(bool is_locked, int cancel_type)
{
    int deferred;

    if (!is_locked)
        return;
    unlock();
    fs_section_leave();
    pthread_setcanceltype(cancel_type, &deferred);
}

/* The value of fs_reset_handler: see handlers.h. */
static fs_handler_fn *reset_handler(int sig)
{
    fs_handler_fn *handler = NULL;
    struct sigaction action;
    int cancel_type = PTHREAD_CANCEL_DEFERRED;
    bool is_locked = begin_change(&cancel_type);

    if (libc.sigaction(sig, NULL, &action) == 0 && action.sa_sigaction == fs_trampoline
        && (fs_installed[sig].flags & (int)SA_RESETHAND) != 0) {
        handler = fs_installed[sig].handler;
        show(&action, handler, fs_installed[sig].flags);
        action.sa_handler = SIG_DFL;
        libc.sigaction(sig, &action, NULL);
    }
    end_change(is_locked, cancel_type);
    return handler;
}

static _Atomic bool actions_found;

static void find_actions(void)
{
    fs_find_next(&libc.sigaction, "sigaction");
    fs_find_next(&libc.siginterrupt, "siginterrupt");
    fs_reset_handler = reset_handler;
    process = (pid_t)syscall(SYS_getpid);
}

void fs_actions_prepare(void)
{
    fs_find_once(&actions_found, find_actions);
}

void fs_actions_in_child(void)
{
    locked = 0;
    process = (pid_t)syscall(SYS_getpid);
}

/* ---- The functions ---- */

/*
 * Does this module wrap the signal?  It leaves SIGKILL, SIGSTOP, glibc's own signals and invalid numbers to
 * glibc, which returns the right error.
 */
static bool is_ours(int sig)
{
    return sig >= 1 && sig < FS_SIGNALS && sig != SIGKILL && sig != SIGSTOP && sig != 32
           && sig != 33;
}

/* `action` and `old` are not accessed inside the section, because the access could fault. */
static int change(int sig, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction ours, before;
    fs_handler_fn *handler;
    int flags, result, cancel_type = PTHREAD_CANCEL_DEFERRED;
    bool is_locked;

    if (action != NULL)
        ours = *action;
    is_locked = begin_change(&cancel_type);
    handler = fs_installed[sig].handler;
    flags = fs_installed[sig].flags;
    if (action != NULL && is_locked && has_handler(&ours))
        replace_handler(sig, &ours);
    result = libc.sigaction(sig, action != NULL ? &ours : NULL, &before);
    if (result != 0 && is_locked) {     /* a sandbox has refused the call */
        fs_installed[sig].handler = handler;
        fs_installed[sig].flags = flags;
    }
    end_change(is_locked, cancel_type);
    if (result == 0 && old != NULL) {
        show(&before, handler, flags);
        *old = before;
    }
    return result;
}

EXPORT int sigaction(int sig, const struct sigaction *restrict action,
                     struct sigaction *restrict old)
{
    fs_actions_prepare();
    return is_ours(sig) ? change(sig, action, old) : libc.sigaction(sig, action, old);
}

/* Install a handler for the functions below.  With `itself`, sa_mask contains the signal, as in glibc. */
static int install(int sig, fs_handler *handler, int flags, bool itself, fs_handler **before)
{
    struct sigaction action, old;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    if (itself && sigaddset(&action.sa_mask, sig) != 0)
        return -1;
    if (sigaction(sig, &action, &old) != 0)
        return -1;
    *before = old.sa_handler;
    return 0;
}

static bool is_error(fs_handler *handler)
{
    if (handler == SIG_ERR)
        errno = EINVAL;
    return handler == SIG_ERR;
}

EXPORT fs_handler *signal(int sig, fs_handler *handler)
{
    bool interrupted = sig >= 1 && sig < FS_SIGNALS && interrupts[sig];
    fs_handler *old;

    if (is_error(handler)
        || install(sig, handler, interrupted ? 0 : SA_RESTART, true, &old) != 0)
        return SIG_ERR;
    return old;
}

EXPORT fs_handler *sysv_signal(int sig, fs_handler *handler)
{
    const int flags = (int)(SA_RESETHAND | SA_NODEFER | SA_INTERRUPT);
    fs_handler *old;

    return is_error(handler) || install(sig, handler, flags, false, &old) != 0 ? SIG_ERR : old;
}

/* Unlike signal(), this function installs SIG_ERR as a handler, as in glibc. */
EXPORT fs_handler *sigset(int sig, fs_handler *handler)
{
    sigset_t only, before;
    fs_handler *old;

    sigemptyset(&only);
    if (sigaddset(&only, sig) != 0)
        return SIG_ERR;
    if (handler == SIG_HOLD) {
        struct sigaction action;

        if (sigprocmask(SIG_BLOCK, &only, &before) != 0)
            return SIG_ERR;
        if (sigismember(&before, sig) == 1)
            return SIG_HOLD;
        return sigaction(sig, NULL, &action) == 0 ? action.sa_handler : SIG_ERR;
    }
    if (install(sig, handler, 0, false, &old) != 0
        || sigprocmask(SIG_UNBLOCK, &only, &before) != 0)
        return SIG_ERR;
    return sigismember(&before, sig) == 1 ? SIG_HOLD : old;
}

EXPORT int siginterrupt(int sig, int interrupt)
{
    int result;

    fs_actions_prepare();
    result = libc.siginterrupt(sig, interrupt);
    if (result == 0) {
        interrupts[sig] = interrupt != 0;
        if (interrupt != 0)
            fs_installed[sig].flags &= ~SA_RESTART;
        else
            fs_installed[sig].flags |= SA_RESTART;
    }
    return result;
}

/* Other names that glibc has for these functions. */
#define SAME_AS(name) __attribute__((alias(name), nothrow, leaf))

EXPORT int __sigaction(int sig, const struct sigaction *action, struct sigaction *old)
    SAME_AS("sigaction");
EXPORT fs_handler *bsd_signal(int sig, fs_handler *handler) SAME_AS("signal");
EXPORT fs_handler *ssignal(int sig, fs_handler *handler) SAME_AS("signal");
EXPORT fs_handler *__sysv_signal(int sig, fs_handler *handler) SAME_AS("sysv_signal");
