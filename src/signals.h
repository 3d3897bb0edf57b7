/* SPDX-License-Identifier: MIT */
/*
 * signals.h - no signal handler in the critical sections of an interruptible semaphore.
 *
 * A handler may release the semaphore that its thread is busy with, or wait for a thread that
 * this one is about to wake.  So no handler runs from before the lock until after the wakes.
 *
 * Cancellation is made deferred meanwhile: the caller may be a handler that has interrupted a
 * sleep on a futex, where it is asynchronous, and must not die with a lock.
 */
#ifndef FS_SIGNALS_H
#define FS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Another way to keep handlers out than to block signals; NULL: block them.  A client of the
 * library that knows one sets this before there is a semaphore.  The interposer does, because it
 * stands in front of every handler: posix/handlers.h.
 */
struct fs_guard {
    void (*enter)(void);
    void (*leave)(void);

    /* This thread begins a wait, or has ended the one that it began last: fs_abandon_wait(). */
    void (*begin_wait)(void *wait);
    void (*end_wait)(void);
};
extern const struct fs_guard *fs_guard;     /* r/o once there is a semaphore */

struct fs_held_signals {
    bool     held;
    int      cancel_type;   /* if held: the thread's type of cancellation */
    sigset_t before;        /* and what it had blocked, if there is no guard */
};

void fs_hold_signals(struct fs_held_signals *signals);
void fs_let_signals_in(struct fs_held_signals *signals);

#endif
