/* SPDX-License-Identifier: MIT */
/* queue.c - see queue.h. */
#include "queue.h"

#include "ahead.h"
#include "count.h"
#include "resolve.h"
#include "tools/annotate.h"

FS_ALWAYS_INLINE static void enqueue(struct fs_section *in, struct fs_waiter *w, int priority)
{
    struct fs_sem *s = in->sem;

    fs_assert_held(s);
    if (s->epoch == FS_BY_PRIORITY)
        fs_waitq_enqueue(&s->queue, &w->in_queue, priority);
    else if (s->epoch == FS_BY_AGE)
        fs_waitq_enqueue_by_age(&s->queue, &w->in_queue, priority);
    else
        fs_flow_enqueue(s, w, priority);
    /*
     * Release order, for tickets: a thread that sees QUEUED must also see which semaphore the ticket waits
     * for.
     */
    fs_set_state(w, FS_QUEUED, memory_order_release);
    w->enqueued_ns = fs_section_now(in);
    atomic_store_explicit(&s->waiters, s->waiters + 1, memory_order_relaxed);
    fs_count_enqueued(s, w);
}

void fs_enqueue_thread(struct fs_section *in, struct fs_waiter *w, int priority)
{
    enqueue(in, w, priority);
    w->in_queue.core = 0;
    if ((in->sem->options & FS_NO_SPIN) == 0)
        fs_ahead_enqueued(in, w);
}

void fs_enqueue_ticket(struct fs_section *in, struct fs_waiter *w, int priority)
{
    enqueue(in, w, priority);
    w->in_queue.core = FS_NO_CORE;
    if ((in->sem->options & FS_NO_SPIN) == 0)
        fs_ahead_enqueued_ticket(in, w);
}

FS_ALWAYS_INLINE static enum fs_waiter_state state_after(enum fs_end end)
{
    if (end == FS_BY_GRANT)
        return FS_GRANTED;
    return end == FS_BY_RETURN ? FS_NOT_QUEUED : FS_ENDED;
}

/*
 * Resolve the waiter first.  Its thread, if awake, goes on at once on another core, while this thread
 * counts and reads the clock.  Once resolved, the waiter may be gone (I8), so `ended` has a copy of what is
 * still needed.
 */
void fs_dequeue(struct fs_section *in, struct fs_waiter *w, enum fs_end end)
{
    struct fs_sem *s = in->sem;
    const struct fs_ended ended = fs_ended_of(s, w);

    fs_assert_held(s);
    if ((s->options & FS_NO_SPIN) == 0)
        fs_ahead_dequeues(s, w);
    if (s->epoch == FS_BY_PRIORITY)
        fs_waitq_dequeue(&s->queue, &w->in_queue);
    else if (s->epoch == FS_BY_AGE)
        fs_waitq_dequeue_by_age(&s->queue, &w->in_queue);
    else
        fs_flow_dequeue(s, w, end == FS_BY_GRANT);
    atomic_store_explicit(&s->waiters, s->waiters - 1, memory_order_relaxed);
    if (fs_instrumented)
        fs_happens_before(w);
    fs_resolve(w, state_after(end), in);
    fs_count_ended(s, &ended, fs_section_now(in), end);
    if ((s->options & FS_NO_SPIN) == 0 && ended.was_front)
        fs_ahead_front_left(in, &ended, end);
}
