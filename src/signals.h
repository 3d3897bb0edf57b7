/* SPDX-License-Identifier: MIT */
/*
 * signals.h - no signal handler in the critical sections of an interruptible semaphore.
 *
 * A handler may release the semaphore that its thread is busy with, or wait for a thread that
 * this one is about to wake.  So signals are held back from before the lock until after the
 * wakes.  Cancellation is made deferred meanwhile: the caller may be a handler that has
 * interrupted a sleep on a futex, where it is asynchronous, and must not die with a lock.
 */
#ifndef FS_SIGNALS_H
#define FS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct fs_held_signals {
    bool     held;
    sigset_t before;        /* if held: what the thread had blocked */
    int      cancel_type;   /* and its type of cancellation */
};

void fs_hold_signals(struct fs_held_signals *signals);
void fs_let_signals_in(struct fs_held_signals *signals);

#endif
