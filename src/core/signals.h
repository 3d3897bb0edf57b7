/* SPDX-License-Identifier: MIT */
/*
 * signals.h - keeping signal handlers out of the critical sections of an interruptible semaphore.
 *
 * A handler may release the semaphore whose mutex its thread holds, or wait for a thread that its own
 * thread is about to wake.  So no handler runs from before the lock until after the wakes.
 *
 * Cancellation is deferred during that time, because a thread must not be canceled with a lock held.  (The
 * caller may be a handler that has interrupted a sleep on a futex, where cancellation is asynchronous.)
 * Cancellation is deferred before signals are blocked, and restored after they are unblocked, so a canceled
 * thread never leaves signals blocked.
 */
#ifndef FS_SIGNALS_H
#define FS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Functions that keep handlers out without blocking signals.  The interposer, which wraps every handler
 * (src/preload/handlers.h), sets fs_signal_hooks before there is a semaphore.  If the pointer is NULL,
 * signals are blocked.
 */
struct fs_signal_hooks {
    void (*enter)(void);
    void (*leave)(void);

    /*
     * begin_wait: this thread begins a wait.  end_wait: this thread has ended the wait that it began
     * last.  Between the two calls, a handler may call fs_abandon_wait() or fs_interrupt_wait().
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

/* Are handlers unhooked?  If so, a handler that runs while its thread is awake cannot end the wait. */
static inline bool fs_handlers_are_unhooked(void)
{
    return fs_signal_hooks == NULL;
}

struct fs_blocked_signals {
    bool     held;
    int      cancel_type;   /* if held: the cancellation type to restore */
    sigset_t before;        /* if held, and without hooks: the signal mask to restore */
};

/*
 * Keep handlers out of a section.  Does nothing if signals->held is true: an earlier section, whose deferred
 * work is not done yet, keeps handlers out already.
 */
void fs_block_signals(struct fs_blocked_signals *signals);

void fs_unblock_signals(struct fs_blocked_signals *signals);

/*
 * Will fs_unblock_signals() run a handler that ends a wait?  timed: the thread would sleep with a time-out.
 * To be called only without hooks.  Makes one system call, and one more for each pending signal.
 */
bool fs_blocked_signal_ends_wait(const struct fs_blocked_signals *signals, bool timed);

#endif
