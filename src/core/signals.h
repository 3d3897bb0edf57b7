/* SPDX-License-Identifier: MIT */
/*
 * signals.h - no signal handler in the critical sections of an interruptible semaphore.
 *
 * A handler may release the semaphore that its thread is busy with, or wait for a thread that
 * this one is about to wake.  So no handler runs from before the lock until after the wakes.
 *
 * Cancellation is deferred during that time: the caller may be a handler that has interrupted a
 * sleep on a futex, where cancellation is asynchronous, and must not be canceled with a lock held.
 * It is deferred first and restored last: a thread that is canceled never leaves signals held.
 */
#ifndef FS_SIGNALS_H
#define FS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A way to keep handlers out without blocking signals.  A client that has one sets
 * fs_signal_hooks before there is a semaphore; while it is NULL, signals are blocked.  The
 * interposer sets it, because it wraps every handler: src/preload/handlers.h.
 */
struct fs_signal_hooks {
    void (*enter)(void);
    void (*leave)(void);

    /*
     * This thread begins a wait, or has ended the last one that it began.  In between, a handler
     * may call fs_abandon_wait() or fs_interrupt_wait().
     */
    void (*begin_wait)(void *wait);
    void (*end_wait)(void);
};
extern const struct fs_signal_hooks *fs_signal_hooks;     /* r/o once there is a semaphore */

/* ---- For an interruptible semaphore ---- */

static inline void fs_signals_begin_wait(void *wait)
{
    if (fs_signal_hooks != NULL)
        fs_signal_hooks->begin_wait(wait);
}

static inline void fs_signals_end_wait(void)
{
    if (fs_signal_hooks != NULL)
        fs_signal_hooks->end_wait();
}

/* A handler that runs while a thread is awake cannot end such a wait: nothing wraps it. */
static inline bool fs_handlers_are_unhooked(void)
{
    return fs_signal_hooks == NULL;
}

struct fs_blocked_signals {
    bool     held;
    int      cancel_type;   /* if held: the thread's type of cancellation */
    sigset_t before;        /* if held, and there are no hooks: its signal mask */
};

/* For a section; a thread that collects the work of several sections holds them once. */
void fs_block_signals(struct fs_blocked_signals *signals);

void fs_unblock_signals(struct fs_blocked_signals *signals);

/*
 * Will a handler run in fs_unblock_signals() that ends a wait, with a time to wake or without one?  Only
 * without hooks.  One system call, and one more for each signal that is held.
 */
bool fs_blocked_signal_ends_wait(const struct fs_blocked_signals *signals, bool timed);

#endif
