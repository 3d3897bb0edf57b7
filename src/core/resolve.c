/* SPDX-License-Identifier: MIT */
/* resolve.c - see resolve.h. */
#include "resolve.h"

#include "sem.h"

fs_resolve_fn *_Atomic fs_resolve_ticket;

/*
 * Resolve a waiter whose thread needs no wake: the thread is awake (QUEUED), or its waker has made the
 * system call (WOKEN).  A waker that has not made the call may be held up, and no other thread may depend
 * on that waker.  Returns false if the thread may sleep.
 *
 * By compare-and-swap, because the waiter's thread changes WOKEN to QUEUED, and QUEUED to PARKED, without
 * the mutex.  Release order: see fs_resolve().
 */
static bool resolve_awake(struct fs_thread_waiter *thread, enum fs_waiter_state state)
{
    int now = FS_QUEUED;

    if (fs_try_state(&thread->waiter, &now, state, memory_order_release, memory_order_relaxed))
        return true;
    return now == FS_WOKEN && fs_wake_was_made(&thread->parking)
           && fs_try_state(&thread->waiter, &now, state, memory_order_release, memory_order_relaxed);
}

/*
 * A thread that may sleep enters the wake queue before the store of the state, after which the waiter may
 * be gone.
 *
 * Release order: a waiter that sees the state without the mutex must see what the releasers of its units
 * wrote.  This thread has acquired those writes: fs_word_lock(), unlock_word().
 */
void fs_resolve(struct fs_waiter *w, enum fs_waiter_state state, struct fs_section *in)
{
    struct fs_thread_waiter *thread = (struct fs_thread_waiter *)w;

    if (fs_is_ticket(w)) {
        atomic_load_explicit(&fs_resolve_ticket, memory_order_relaxed)(w, state, in);
        return;
    }
    if (fs_waiter_state(w) == FS_NOT_QUEUED) {
        fs_set_state(w, state, memory_order_relaxed);   /* its thread is on its way to the mutex */
        return;
    }
    if (state != FS_WOKEN && resolve_awake(thread, state))
        return;
    fs_wake_queue_add(&in->after.wakes, &thread->parking, &w->state, fs_section_now(in));
    fs_set_state(w, state, memory_order_release);
}
