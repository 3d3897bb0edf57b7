/* SPDX-License-Identifier: MIT */
/*
 * wait.c - a thread that waits: how it sleeps, how it is told, how it gives up.
 *
 * It sleeps on its parker or, where signals matter, on its waiter's state; see park.h.  The
 * states are drawn in semaphore_internal.h.
 */
#include "semaphore_internal.h"

#include "token.h"

#include <errno.h>

/* ---- Being told ---- */

/*
 * To tell a thread: whom to wake is noted before the state is visible, and only if the thread
 * has said that it may sleep (PARKED) and is not the one who tells itself.  It says so
 * without the mutex, so for one that was awake the store is a compare-and-swap; false means
 * that it may sleep by now, and has not been told yet.
 *
 * Release order: a waiter that sees the state without taking the mutex must see what the
 * releasers of its units wrote; we have read that ourselves, in fs_lock_line().
 */
static bool told_awake(struct fs_waiter *w, enum fs_state state)
{
    bool by_itself = state == FS_EXPIRED || state == FS_INTERRUPTED || state == FS_ABANDONED;
    int awake = FS_QUEUED;

    /* Relaxed: told by its own thread, or before that has come to the mutex. */
    if (by_itself || atomic_load_explicit(&w->state, memory_order_relaxed) == FS_IDLE) {
        atomic_store_explicit(&w->state, state, memory_order_relaxed);
        return true;
    }
    return atomic_compare_exchange_strong_explicit(&w->state, &awake, state,
                                                   memory_order_release, memory_order_relaxed);
}

void fs_tell_awake(struct fs_waiter *w, enum fs_state state, struct fs_aftermath *after)
{
    (void)after;
    /* Relaxed: it does not wait, so its own thread tells it, in the section in which it came. */
    atomic_store_explicit(&w->state, state, memory_order_relaxed);
}

static void tell_on_parker(struct fs_waiter *w, enum fs_state state, struct fs_aftermath *after)
{
    if (told_awake(w, state))
        return;
    if (w->parker != NULL)
        fs_wake_later(&after->wakes, w->parker);
    atomic_store_explicit(&w->state, state, memory_order_release);
}

static void tell_on_word(struct fs_waiter *w, enum fs_state state, struct fs_aftermath *after)
{
    if (told_awake(w, state))
        return;
    fs_wake_word_later(&after->wakes, &w->state);
    atomic_store_explicit(&w->state, state, memory_order_release);
}

/* ---- Sleeping ---- */

/* Its own thread ends the wait. */
static int end_wait(struct fs_wait *wait, enum fs_state why, int reason)
{
    struct fs_aftermath after;
    int state;

    fs_aftermath_init(&after);
    state = wait->give_up(wait, why, reason, &after);
    fs_aftermath_run(&after);
    return state;
}

/*
 * musl (1.2.3) runs the handlers of an asynchronous cancellation, which is what ends a sleep
 * on a futex, with a stack that is not aligned as the x86 ABI wants it.
 */
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define REALIGN_STACK __attribute__((force_align_arg_pointer))
#else
#define REALIGN_STACK
#endif

/*
 * The thread is canceled in its wait, or an exception leaves a callback that it made at the end.
 * Another callback may throw here: what the token knows of must be gone before.
 */
REALIGN_STACK static void abandon(void *arg)
{
    struct fs_wait *wait = arg;
    struct fs_aftermath after;

    fs_aftermath_init(&after);
    wait->give_up(wait, FS_ABANDONED, ECANCELED, &after);
    fs_token_detach(wait);
    fs_aftermath_run(&after);
    if (fs_under_valgrind)
        fs_hidden_is_canceled();
}

/* The semaphore must be looked at before the wait: after it, it may be gone (I8). */
void fs_prepare_to_sleep(struct fs_wait *wait)
{
    wait->interruptible = wait->sem->interruptible;
    wait->claims = wait->sem->bypass_ns != 0;
    /* helgrind and DRD find fault with a condition variable that is signaled after the unlock. */
    wait->on_word = FS_HAS_FUTEX
                    && (wait->interruptible || FS_FUTEX_BY_DEFAULT || fs_under_valgrind);
    wait->waiter.tell = wait->on_word ? tell_on_word : tell_on_parker;
    if (!wait->on_word)
        wait->waiter.parker = fs_parker_self();
    if (fs_under_valgrind)
        fs_hide_wait(wait, sizeof *wait);
}

/* Awake and in line: the grant loop hands it what is free. */
static void claim(struct fs_sem *s)
{
    struct fs_aftermath after;

    fs_exit(s, fs_enter(s, &after), &after);
}

/*
 * The waiter was awake when it was last told anything.  Perhaps its turn comes in a moment;
 * if not, whoever tells it from now on must wake it.  Returns the state.
 */
static int fall_asleep(struct fs_wait *wait)
{
    struct fs_waiter *w = &wait->waiter;
    int state = FS_QUEUED;

    if (wait->spin == FS_SPIN_ALERTED && wait->claims)
        claim(wait->sem);
    else if (wait->spin != FS_SPIN_NOT)
        fs_spin(&w->state, FS_QUEUED, wait->spin);
    wait->spin = FS_SPIN_ALERTED;       /* if it is told to be awake again, that is why */
    /* Fails if it is over already.  Acquire order for that case: see told_awake(). */
    if (atomic_compare_exchange_strong_explicit(&w->state, &state, FS_PARKED,
                                                memory_order_acquire, memory_order_acquire))
        return FS_PARKED;
    return state;
}

/*
 * No mutex held; the waiter is in line, or was and has been told.  Sleep until the state
 * says that it is over, and return it.  Every time it does not, the deadline is looked at here:
 * a park that returns early, for whatever reason, is only a reason to look again.
 */
int fs_sleep(struct fs_wait *wait)
{
    struct fs_waiter *w = &wait->waiter;
    bool woken = false;
    int state;

    pthread_cleanup_push(abandon, wait);
    for (;;) {
        state = atomic_load_explicit(&w->state, memory_order_acquire);
        /* Awake: whoever tells us from now on need not wake us.  Fails if it is over. */
        if (state == FS_ALERTED
            && atomic_compare_exchange_strong_explicit(&w->state, &state, FS_QUEUED,
                                                       memory_order_acquire,
                                                       memory_order_acquire))
            state = FS_QUEUED;
        if (state == FS_QUEUED) {
            woken = false;
            state = fall_asleep(wait);
        }
        if (state == FS_PARKED && wait->deadline != NULL && fs_deadline_passed(wait->deadline))
            state = end_wait(wait, FS_EXPIRED, ETIMEDOUT);
        else if (state == FS_PARKED && wait->interrupted)
            state = end_wait(wait, FS_INTERRUPTED, EINTR);
        if (state != FS_PARKED)
            break;
        if (!wait->on_word)
            fs_park(w->parker, wait->deadline);
        else if (fs_futex_park(&w->state, FS_PARKED, wait->deadline))
            wait->interrupted = wait->interruptible;
        woken = true;
    }
    pthread_cleanup_pop(0);
    /* Seldom, because it is a look at the clock; which is as good as dice. */
    if (woken && !fs_watched && state == FS_GRANTED && w->since_ns != 0 && w->since_ns % 16 == 0)
        fs_spin_woken(w->since_ns);
    return state;
}
