/* SPDX-License-Identifier: MIT */
/*
 * wait.c - a thread that waits: how it sleeps, and how its wait is aborted.
 *
 * The states are drawn in waiter.h; how a thread parks is in parking.h.
 */
#include "tools/cleanup.h"      /* before <pthread.h> */
#include "wait.h"

#include "fast_path.h"
#include "queue.h"
#include "tools/annotate.h"
#include "tools/compiler.h"

#include <errno.h>

bool fs_wait_valid_for_any(const fairsem_wait_t *how)
{
#if UINTPTR_MAX > UINT32_MAX        /* otherwise there is no reserved member */
    for (size_t i = 0; i < sizeof how->reserved_ / sizeof how->reserved_[0]; i++) {
        if (how->reserved_[i] != 0)
            return false;
    }
#endif
    /* A struct of zeros is valid (wait for ever), even on a system where 0 is not a valid clock. */
    if (!fs_clock_valid(how->clock) && (how->deadline != NULL || how->clock != 0))
        return false;
    if (how->deadline == NULL)
        return true;
    return how->timeout_ns == 0 && fs_timespec_valid(how->deadline);
}

bool fs_wait_valid(const fairsem_wait_t *how)
{
    return fs_wait_valid_for_any(how) && how->share_weight == 0 && how->share_key == 0;
}

bool fs_wait_deadline(const fairsem_wait_t *how, struct fs_deadline *deadline)
{
    if (how->deadline != NULL)
        *deadline = (struct fs_deadline){ .clock = how->clock, .at = *how->deadline };
    else if (how->timeout_ns > 0)
        *deadline = fs_deadline_after(how->timeout_ns);
    else
        *deadline = (struct fs_deadline){ .clock = CLOCK_MONOTONIC };   /* a time in the past */
    return how->deadline != NULL || how->timeout_ns != 0;
}

void fs_wait_from_now(fairsem_wait_t *until, struct fs_deadline *at, const fairsem_wait_t *how)
{
    *until = *how;
    if (how->timeout_ns == 0)
        return;
    (void)fs_wait_deadline(how, at);
    until->clock = at->clock;
    until->deadline = &at->at;
    until->timeout_ns = 0;
}

/* ---- Resolved, or awake ---- */

/*
 * Note that this thread, the waiter's own, is awake: a thread that resolves the waiter later need not wake
 * this thread.  Returns false if the wait has ended.
 */
static bool note_awake(struct fs_waiter *w)
{
    int state = fs_waiter_state(w);

    while (state == FS_PARKED || state == FS_WOKEN) {
        if (fs_try_state(w, &state, FS_QUEUED, memory_order_relaxed, memory_order_relaxed))
            return true;
    }
    return state == FS_QUEUED;
}

/* ---- Aborting a wait: by a token, or by its own thread ---- */

/* A wait that its token has canceled is off the list, so its thread need not detach it. */
void fs_wait_set_end(struct fs_wait *wait, enum fs_end end, int reason)
{
    fs_set_reason(&wait->waiter, reason);
    if (end == FS_BY_TOKEN)
        wait->by_token.token = NULL;
}

/*
 * If the request was granted a moment before, a time-out, a signal or a token comes too late: the waiter keeps
 * the units.  But a canceled thread cannot use the units, so they go to the next requests.
 *
 * Only a token can find the request NOT_QUEUED.  The request's thread is on its way to the mutex, and will
 * find the wait ended.
 */
bool fs_abort_request(struct fs_wait *wait, enum fs_end end, int reason, struct fs_section *in)
{
    struct fs_waiter *w = &wait->waiter;
    bool aborts, in_queue;
    int state;

    fs_section_lock(in, wait->sem);
    state = fs_waiter_state(w);
    in_queue = fs_state_in_queue(state);
    aborts = in_queue || state == FS_NOT_QUEUED;
    if (aborts)
        fs_wait_set_end(wait, end, reason);
    if (in_queue && !fs_wait_is_copied(wait))
        fs_dequeue(in, w, end);
    else if (aborts)
        fs_resolve(w, FS_ENDED, in);
    else if (state == FS_GRANTED && end == FS_BY_CANCEL)
        fs_return_grant(in, w->units);
    fs_section_unlock(in);
    return aborts;
}

static bool cancel(struct fs_cancelable *by_token, int reason, struct fs_section *in)
{
    struct fs_wait *wait = (struct fs_wait *)(void *)((char *)by_token
                                                      - offsetof(struct fs_wait, by_token));

    return wait->abort(wait, FS_BY_TOKEN, reason, in);
}

static void abort_wait(struct fs_wait *wait, enum fs_end end, int reason)
{
    struct fs_section in;

    fs_deferred_init(&in.after);
    (void)note_awake(&wait->waiter);
    (void)wait->abort(wait, end, reason, &in);
    fs_deferred_run(&in.after);
}

/*
 * Abort a wait that its thread leaves for good: by cancellation, from a signal handler, or because a
 * callback throws.  The deferred work may run another callback that throws, so the wait must be off its
 * token's list before that work.
 */
FS_REALIGN_STACK static void abandon(void *arg)
{
    struct fs_wait *wait = arg;
    struct fs_section in;

    fs_deferred_init(&in.after);
    (void)note_awake(&wait->waiter);
    (void)wait->abort(wait, FS_BY_CANCEL, ECANCELED, &in);
    if (wait->by_token.token != NULL)
        fs_token_detach(&wait->by_token);
    fs_deferred_run(&in.after);
    if (fs_under_valgrind)
        fs_ignored_is_canceled();
}

/*
 * The clean-up handler of the wait.  After this handler, the memory of the wait is gone, so signal handlers
 * must no longer find the wait.
 */
FS_REALIGN_STACK static void abandon_and_end(void *arg)
{
    const struct fs_wait *wait = arg;

    abandon(arg);
    if (wait->interruptible)
        fs_signals_end_wait();
}

/*
 * Abandon the wait of this thread, because a signal handler jumps out of the wait.  Called between
 * begin_wait and end_wait of struct fs_signal_hooks.  A handler that has interrupted the sleep runs with
 * asynchronous cancellation (park_futex.c), which ends here.
 */
void fs_abandon_wait(void *wait)
{
    int async;

    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &async);
    /* A waiter that is NOT_QUEUED needs no abort: only this thread could enqueue it, and will not. */
    if (fs_waiter_state(&((struct fs_wait *)wait)->waiter) != FS_NOT_QUEUED)
        abandon(wait);
}

static void interrupt(struct fs_wait *wait)
{
    atomic_store_explicit(&wait->interrupted, true, memory_order_relaxed);
}

/*
 * Called in a signal handler that has interrupted this wait.  The kernel ends only a sleep; this function ends
 * the wait of a thread that was awake, too.  As in the kernel, a wait without a deadline goes on if the handler
 * has SA_RESTART (restarts).
 */
void fs_interrupt_wait(void *wait, bool restarts)
{
    struct fs_wait *ours = wait;

    if (ours->deadline != NULL || !restarts)
        interrupt(ours);
}

/* ---- Sleeping ---- */

/* wait->interruptible is a copy, because the semaphore may be gone after the wait (I8). */
int fs_wait_begin(struct fs_wait *wait, const fairsem_token_t *token)
{
    int reason = 0;

    wait->generation = fs_fork_generation();
    wait->interruptible = (wait->sem->options & FS_INTERRUPTIBLE) != 0;
    fs_parking_begin(&wait->thread.parking, wait->interruptible);
    if (fs_under_valgrind)
        fs_ignore_wait(wait, sizeof *wait);
    if (token != NULL) {
        wait->by_token.token = fs_token_inside(token);
        wait->by_token.cancel = cancel;
        reason = fs_token_attach(&wait->by_token);
    }
    /* Call begin_wait() last: if the token is canceled, the wait does not begin, and no end_wait() follows. */
    if (reason == 0 && wait->interruptible)
        fs_signals_begin_wait(wait);
    return reason;
}

/* Run the grant loop, which grants the front, perhaps this thread's request, if enough units are free. */
static void compete(struct fs_sem *s)
{
    struct fs_section in;

    fs_section_begin(&in, s);
    fs_section_end(&in);
}

/*
 * Stay awake with signals blocked, as a part of the section's deferred work: an unhooked handler that ran
 * while the thread is awake could not end the wait.  So signals come up to 0.5 ms late.
 *
 * If the thread must sleep after this function, the handlers of pending signals run before the sleep.  The
 * kernel cannot end a sleep for an earlier handler, so this function must end the wait.
 *
 * With this function, a producer and a consumer with a small buffer pass almost twice as many items.
 */
static void stay_awake_without_signals(struct fs_wait *wait, struct fs_deferred *deferred)
{
    struct fs_waiter *w = &wait->waiter;
    bool wakes_by_itself = wait->deadline != NULL || wait->competes_at_ns != 0;

    /* Callbacks run after this function, so staying awake would make them late. */
    if (fs_strategy_of(w) == FS_SLEEP_AT_ONCE || deferred->callbacks.any)
        return;
    fs_wake_queue_run(&deferred->wakes);
    if (!fs_awake_stay(&w->state, FS_QUEUED, &w->in_queue.strategy, w->enqueued_ns, wait->deadline))
        return;
    /* Relaxed: a hint. */
    if (atomic_load_explicit(&w->state, memory_order_relaxed) == FS_QUEUED
        && fs_blocked_signal_ends_wait(&deferred->signals, wakes_by_itself))
        interrupt(wait);
}

/*
 * Do what must be done before the thread may sleep.  Returns false if there was nothing to do.  The
 * deadline is checked here, because fs_park() may return early for any reason.  A request that has aged
 * (age.h) competes once before that check: its units may have been free before the deadline.
 */
static bool acts(struct fs_wait *wait)
{
    if (wait->competes_at_ns != 0 && fs_now_ns() >= wait->competes_at_ns) {
        wait->competes_at_ns = 0;
        compete(wait->sem);
    } else if (wait->deadline != NULL && fs_deadline_passed(wait->deadline)) {
        abort_wait(wait, FS_BY_DEADLINE, ETIMEDOUT);
    } else if (wait->interruptible && atomic_load_explicit(&wait->interrupted, memory_order_relaxed)) {
        abort_wait(wait, FS_BY_SIGNAL, EINTR);
    } else {
        return false;
    }
    return true;
}

/*
 * Stay awake as the strategy says, then set the state to PARKED.  Returns the state.  PARKED: a thread that
 * resolves the waiter wakes this thread.  Another state: this thread must not sleep.
 */
static int fall_asleep(struct fs_wait *wait)
{
    struct fs_waiter *w = &wait->waiter;
    int state;

    if (fs_strategy_of(w) != FS_SLEEP_AT_ONCE && !(wait->interruptible && fs_handlers_are_unhooked()))
        (void)fs_awake_stay(&w->state, FS_QUEUED, &w->in_queue.strategy, w->enqueued_ns, wait->deadline);
    /* First a load: after a spin the wait has usually ended, and no store is needed. */
    state = atomic_load_explicit(&w->state, memory_order_acquire);
    if (state == FS_QUEUED && fs_try_state(w, &state, FS_PARKED, memory_order_acquire, memory_order_acquire))
        return FS_PARKED;
    return state;
}

/* Acquire order, for each load of the state: see fs_resolve(). */
int fs_sleep(struct fs_wait *wait)
{
    struct fs_waiter *w = &wait->waiter;
    const struct fs_deadline *until;
    struct fs_deadline old;
    bool slept = false;     /* did the thread sleep right before the state was loaded? */
    int state;

    while (fs_state_in_queue(state = atomic_load_explicit(&w->state, memory_order_acquire))) {
        slept = false;
        if (state == FS_WOKEN && note_awake(w) && wait->competes_when_woken)
            compete(wait->sem);
        if (state != FS_PARKED)
            state = fall_asleep(wait);
        if (state != FS_PARKED || acts(wait))
            continue;
        until = wait->deadline;
        if (wait->competes_at_ns != 0)
            until = fs_deadline_or(until, wait->competes_at_ns, &old);
        if (fs_park(&wait->thread.parking, &w->state, FS_PARKED, until))
            interrupt(wait);
        slept = true;
    }
    if (slept && state == FS_GRANTED && !fs_instrumented)
        fs_awake_slept(wait->thread.parking.woken_ns);
    return state;
}

/*
 * The clean-up handler is pushed before the unlock: the deferred work may run a callback that throws, or
 * unblock a signal whose handler ends the thread.
 */
static int end_and_sleep(struct fs_wait *wait, struct fs_section *in)
{
    int state;

    pthread_cleanup_push(abandon_and_end, wait);
    fs_section_unlock(in);
    if (wait->interruptible && fs_handlers_are_unhooked())
        stay_awake_without_signals(wait, &in->after);
    fs_deferred_run(&in->after);
    state = fs_sleep(wait);
    pthread_cleanup_pop(0);
    return state;
}

int fs_section_end_and_wait(struct fs_section *in, struct fs_wait *wait)
{
    int state = end_and_sleep(wait, in);

    if (fs_instrumented)
        fs_happens_after(&wait->waiter);
    if (wait->by_token.token != NULL)
        fs_token_detach(&wait->by_token);
    if (wait->interruptible)
        fs_signals_end_wait();
    return fs_result(&wait->waiter, state);
}
