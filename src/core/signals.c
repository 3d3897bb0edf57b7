/* SPDX-License-Identifier: MIT */
/* signals.c - see signals.h. */
#include "signals.h"

#include "tools/invariant.h"

#include <errno.h>

/* POSIX has no NSIG. */
#if defined(SIGRTMAX)
#define LAST_SIGNAL SIGRTMAX
#else
#define LAST_SIGNAL 31
#endif

const struct fs_signal_hooks *fs_signal_hooks;

/*
 * Block all signals except those that the thread's own instructions raise.  If an instruction raised a blocked
 * signal, the kernel would kill the process.  The signal's handler, which might grow a stack or print where
 * the fault was, would not run.
 */
static void block_all_but_faults(sigset_t *before)
{
    static const int left_open[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
    sigset_t blocked;

    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof left_open / sizeof left_open[0]; i++)
        sigdelset(&blocked, left_open[i]);
    FS_MUST(pthread_sigmask(SIG_BLOCK, &blocked, before));
}

void fs_block_signals(struct fs_blocked_signals *signals)
{
    if (signals->held)
        return;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &signals->cancel_type);
    if (fs_signal_hooks != NULL)
        fs_signal_hooks->enter();
    else
        block_all_but_faults(&signals->before);
    signals->held = true;
}

/*
 * With or without hooks, pending handlers run at the end of this function.  So the caller must hold no
 * lock, and must have made all its wakes.
 */
void fs_unblock_signals(struct fs_blocked_signals *signals)
{
    int deferred;

    signals->held = false;
    if (fs_signal_hooks != NULL)
        fs_signal_hooks->leave();
    else
        FS_MUST(pthread_sigmask(SIG_SETMASK, &signals->before, NULL));
    pthread_setcanceltype(signals->cancel_type, &deferred);
}

/*
 * Would the handler of this signal end a wait, by the kernel's rule (park_futex.c)?
 *
 * A signal sent to the process is pending only while all threads block it.  Another thread may unblock the
 * signal first and run the handler, and this wait still ends with EINTR.  (With a sem_t, too, the kernel may
 * choose either of the two threads to run the handler.)
 */
static bool ends_wait(int signal, bool timed)
{
    struct sigaction action;

    return sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_DFL
           && action.sa_handler != SIG_IGN && (timed || (action.sa_flags & SA_RESTART) == 0);
}

/* If a sandbox forbids sigpending(), the result is false, as if the signals had come before the wait. */
bool fs_blocked_signal_ends_wait(const struct fs_blocked_signals *signals, bool timed)
{
    int before = errno;
    sigset_t pending;

    if (sigpending(&pending) != 0) {
        errno = before;
        return false;
    }
    for (int signal = 1; signal <= LAST_SIGNAL; signal++) {
        if (sigismember(&pending, signal) == 1 && sigismember(&signals->before, signal) == 0
            && ends_wait(signal, timed))
            return true;
    }
    return false;
}
