/* SPDX-License-Identifier: MIT */
/* resolve.c - making GRANTED, ENDED or WOKEN visible to a waiter; see resolve.h. */
#include "resolve.h"

#include "sem.h"

fs_resolve_fn *_Atomic fs_resolve_ticket;

/*
 * Resolve a waiter whose thread need not be woken: it is awake (QUEUED), or the system call that wakes
 * it has been made (WOKEN).  If that call has not been made, its caller may be held up, and no thread
 * may depend on that.  By compare-and-swap, because the waiter's thread changes WOKEN to QUEUED, and
 * QUEUED to PARKED, without the mutex.  Returns false if the thread may sleep.
 *
 * Release order: see fs_resolve().
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
 * The thread is put into the wake queue before the state is visible, and only if it may sleep.
 *
 * Release order: a waiter that sees the state without taking the mutex must see what the releasers of
 * its units wrote; this thread has acquired those writes in fs_section_lock().
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
