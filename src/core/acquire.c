/* SPDX-License-Identifier: MIT */
/*
 * acquire.c - an acquire that has failed on the fast path: it takes its units in a section, or waits.
 */
#include "acquire.h"

#include "age.h"
#include "bypass.h"
#include "fast_path.h"
#include "queue.h"
#include "system/system.h"
#include "wait.h"

#include <errno.h>

FS_ALWAYS_INLINE static bool may_take(struct fs_section *in, int64_t n, int priority)
{
    struct fs_sem *s = in->sem;

    fs_assert_held(s);
    if ((s->options & FS_AGING) != 0)
        fs_age_note(in);
    return (fs_fits(s, in->available, n) && fs_waitq_takes_precedence(&s->queue, priority))
           || ((s->options & FS_BYPASS) != 0 && fs_bypass_may_pass(in, n));
}

bool fs_may_take(struct fs_section *in, int64_t n, int priority)
{
    return may_take(in, n, priority);
}

int fs_take_now(struct fs_section *in, int64_t n, int priority, bool drains)
{
    if (in->sem->closed != 0 && !drains)
        return in->sem->closed;
    if (fs_is_too_large(in->sem, n))
        return E2BIG;
    if (!may_take(in, n, priority))
        return FS_MUST_WAIT;
    if (!drains)
        fs_reserve(in, n);
    return 0;
}

/*
 * End a wait that was never enqueued.  The state must change: a token may list the wait, and a thread that
 * cancels the token would take NOT_QUEUED for a wait that may still be enqueued.
 */
static void end_at_once(struct fs_waiter *w, enum fs_waiter_state state, int reason)
{
    fs_set_reason(w, reason);
    fs_set_state(w, state, memory_order_relaxed);
}

/* taken: the request has its units already. */
static void take_or_enqueue(struct fs_section *in, struct fs_wait *wait, int priority, bool drains,
                            bool taken)
{
    struct fs_waiter *w = &wait->waiter;
    int error = taken ? 0 : fs_take_now(in, w->units, priority, drains);

    if (error == FS_MUST_WAIT && (error = fs_may_enqueue(in, w->share)) == 0) {
        fs_enqueue_thread(in, w, priority);
        if ((in->sem->options & FS_AGING) != 0)
            wait->competes_at_ns = fs_ages_at_ns(in->sem, w);
        return;
    }
    /*
     * A drain has reserved no units, so it must not become GRANTED: if its thread were canceled,
     * fs_abort_request() would return units.
     */
    end_at_once(w, error != 0 || drains ? FS_ENDED : FS_GRANTED, error);
}

/* ---- With bounded bypass: before a request is enqueued, see bypass.h ---- */

/* Tries per read of the clock: a read takes at least as long as a pause instruction. */
#define TRIES_PER_CLOCK 16

/*
 * Should the thread try again?  A token, a signal handler or a close ends the attempts, as it would end a
 * wait in the queue.  The deadline is not checked: the attempts may go on after the deadline, but they last
 * no longer than two wake-ups take.
 */
static bool stays_on(const struct fs_wait *wait, int64_t start_ns, int64_t now_ns)
{
    return fs_waiter_state(&wait->waiter) == FS_NOT_QUEUED
           && !atomic_load_explicit(&wait->interrupted, memory_order_relaxed)
           && atomic_load_explicit(&wait->sem->closed, memory_order_relaxed) == 0
           && fs_awake_before_queue(&wait->sem->before_queue, start_ns, now_ns);
}

/*
 * Try the fast path for a moment.  Returns true if the units were taken.  Returns false at once if the thread
 * should not stay awake, or if the fast path must refuse n units.  Also returns false if the semaphore is
 * interruptible and handlers are unhooked (signals.h): a handler could not end the attempts.
 */
static bool take_before_queueing(struct fs_wait *wait)
{
    struct fs_sem *s = wait->sem;
    int64_t n = wait->waiter.units, start;
    bool taken = false;

    if ((s->options & FS_NO_SPIN) != 0 || n <= 0 || n > atomic_load_explicit(&s->limit, memory_order_relaxed)
        || (wait->interruptible && fs_handlers_are_unhooked()))
        return false;
    start = fs_now_ns();
    if (!stays_on(wait, start, start))
        return false;
    do {
        for (int i = 0; i < TRIES_PER_CLOCK && !taken; i++) {
            taken = fs_acquire_fast(s, n);
            if (!taken)
                fs_cpu_pause();
        }
    } while (!taken && stays_on(wait, start, fs_now_ns()));
    fs_awake_learn_before_queue(&s->before_queue, taken);
    return taken;
}

/* ---- Take or enqueue, and wait ---- */

int fs_acquire(struct fs_sem *s, int64_t n, bool drains, const struct fs_deadline *deadline,
               const fairsem_wait_t *how)
{
    struct fs_wait wait = {
        .waiter.units = n, .waiter.share = fs_share_inside(how->share), .sem = s,
        .abort = fs_abort_request, .deadline = deadline,
        .competes_when_woken = (s->options & FS_BYPASS) != 0,
    };
    struct fs_section in;
    bool taken, goes_on;
    int error;

    error = fs_wait_begin(&wait, how->token);
    if (error != 0)
        return error;
    taken = (s->options & FS_BYPASS) != 0 && !drains && take_before_queueing(&wait);
    if (taken && how->token == NULL) {   /* no other thread can find this wait */
        if (wait.interruptible)
            fs_signals_end_wait();
        return 0;
    }
    fs_section_begin(&in, s);
    /* The token may have ended the wait while this thread was on its way to the mutex. */
    goes_on = fs_waiter_state(&wait.waiter) == FS_NOT_QUEUED;
    if (taken && !goes_on)
        fs_return_grant(&in, n);
    fs_section_take_returns(&in);
    if (goes_on)
        take_or_enqueue(&in, &wait, how->priority, drains, taken);
    return fs_section_end_and_wait(&in, &wait);
}

int fs_acquire_now(struct fs_sem *s, int64_t n, int priority, bool drains, int error)
{
    struct fs_section in;
    int result;

    fs_section_begin(&in, s);
    result = fs_take_now(&in, n, priority, drains);
    fs_section_end(&in);
    return result == FS_MUST_WAIT ? error : result;
}

/* If the deadline has passed, try once, and enqueue nothing that other threads could see. */
int fs_acquire_as(struct fs_sem *s, int64_t n, bool drains, const fairsem_wait_t *how)
{
    struct fs_deadline deadline;
    bool timed = fs_wait_deadline(how, &deadline);

    if (timed && fs_deadline_passed(&deadline))
        return fs_acquire_now(s, n, how->priority, drains, ETIMEDOUT);
    return fs_acquire(s, n, drains, timed ? &deadline : NULL, how);
}

int64_t fs_acquire_upto(struct fs_sem *s, int64_t max)
{
    struct fs_section in;
    int64_t n = 0;

    fs_section_begin(&in, s);
    if (s->closed == 0 && fs_may_take(&in, 1, FS_LAST_PRIORITY)) {
        n = in.available < max ? in.available : max;
        fs_reserve(&in, n);
    }
    fs_section_end(&in);
    return n;
}
