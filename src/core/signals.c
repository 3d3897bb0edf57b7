/* SPDX-License-Identifier: MIT */
/* signals.c - see signals.h. */
#include "signals.h"

#include "invariant.h"

const struct fs_signal_hooks *fs_signal_hooks;

/*
 * Block all signals except those that the thread's own instructions raise.  If one of these is
 * blocked when it is raised, the kernel kills the process and runs no handler, neither one that
 * grows a stack nor one that prints where the fault was.
 */
static void block_signals(sigset_t *before)
{
    static const int left_open[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
    sigset_t blocked;

    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof left_open / sizeof left_open[0]; i++)
        sigdelset(&blocked, left_open[i]);
    FS_MUST(pthread_sigmask(SIG_BLOCK, &blocked, before));
}

void fs_hold_signals(struct fs_held_signals *signals)
{
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &signals->cancel_type);
    if (fs_signal_hooks != NULL)
        fs_signal_hooks->enter();
    else
        block_signals(&signals->before);
    signals->held = true;
}

/*
 * With or without hooks, pending handlers run at the end of this function.  So the caller holds
 * no lock and has done all its wakes.
 */
void fs_let_signals_in(struct fs_held_signals *signals)
{
    int deferred;

    signals->held = false;
    if (fs_signal_hooks != NULL)
        fs_signal_hooks->leave();
    else
        FS_MUST(pthread_sigmask(SIG_SETMASK, &signals->before, NULL));
    pthread_setcanceltype(signals->cancel_type, &deferred);
}
