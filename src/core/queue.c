/* SPDX-License-Identifier: MIT */
/* queue.c - into a semaphore's queue, and out of it; see queue.h. */
#include "queue.h"

#include "ahead.h"
#include "annotate.h"
#include "count.h"

static bool is_head(const struct fs_sem *s, const struct fs_waiter *w)
{
    return fs_head(s) == w;
}

/* ---- Join ---- */

/* Returns whether it is the head. */
FS_ALWAYS_INLINE static bool join(struct fs_section *in, struct fs_waiter *w, int priority)
{
    struct fs_sem *s = in->sem;
    uint32_t waiters = s->waiters + 1;
    bool becomes_head;

    fs_assert_held(s);
    fs_waitq_join(&s->queue, &w->in_queue, priority, s->aging_ns != 0);
    /* Release order, for a ticket: a thread that sees it QUEUED must see of which semaphore. */
    fs_set_state(w, FS_QUEUED, memory_order_release);
    w->joined_ns = fs_section_now(in);
    becomes_head = is_head(s, w);
    if (becomes_head)
        fs_head_has_changed(s, w->joined_ns);
    fs_count_joined(s, w, waiters);
    s->waiters = waiters;
    return becomes_head;
}

void fs_join_thread(struct fs_section *in, struct fs_waiter *w, int priority)
{
    bool becomes_head = join(in, w, priority);

    w->in_queue.core = (int16_t)fs_cpu_current();
    fs_ahead_joined(in, w, becomes_head);
}

void fs_join_ticket(struct fs_section *in, struct fs_waiter *w, int priority)
{
    (void)join(in, w, priority);
    w->in_queue.core = FS_NO_CORE;
    fs_ahead_joined_ticket(in->sem, w);
}

/* ---- Leave ---- */

/*
 * Is there something to learn from a head?  Not if it became the head in this same section, if it is a
 * ticket, which has no thread, or if no thread may stay awake on this semaphore.
 */
FS_ALWAYS_INLINE static bool teaches_something(const struct fs_sem *s, int core)
{
    return s->head_since_ns != 0 && core != FS_NO_CORE && !s->sleeps_at_once;
}

/* The head is about to have its units: learn from the time that it took. */
FS_ALWAYS_INLINE static void learn(struct fs_sem *s, int64_t joined_ns, int core, int64_t now_ns)
{
    int64_t head_ns = now_ns - s->head_since_ns;
    bool teaches = head_ns != 0 && teaches_something(s, core);

    if (teaches && head_ns >= FS_LATE_NS)
        fs_awake_late(&s->awake, s->head_since_ns == joined_ns, s->waiters != 0, head_ns, now_ns);
    fs_awake_granted(&s->awake, core, teaches && s->waiters != 0 ? head_ns : 0);
    if (teaches)
        fs_awake_learn(&s->awake, s->head_since_ns == joined_ns, head_ns, core);
    s->head_since_ns = 0;
}

static void learn_in_vain(struct fs_sem *s, int64_t joined_ns, int core, int64_t now_ns)
{
    if (teaches_something(s, core))
        fs_awake_learn_in_vain(&s->awake, s->head_since_ns == joined_ns, now_ns - s->head_since_ns);
}

void fs_wake_to_compete(struct fs_section *in, struct fs_waiter *head)
{
    fs_assert_held(in->sem);
    learn(in->sem, head->joined_ns, head->in_queue.core, fs_section_now(in));
    /* If they are gone by then: with many cores, another release soon finds it awake, and grants it. */
    fs_set_plan(head, fs_awake_in_crowd() ? FS_PLAN_SLEEP : FS_PLAN_SPIN_WOKEN);
    head->complete(head, FS_WOKEN, in);
}

/*
 * The waiter is completed before anything is counted and, if its thread is awake, before the clock is
 * read: that thread goes on at once, on another core, while this one does the rest.  It may be gone by
 * then (I8), so `ended` has a copy of what is still needed.
 */
void fs_leave(struct fs_section *in, struct fs_waiter *w, enum fs_end end)
{
    struct fs_sem *s = in->sem;
    const struct fs_ended ended = fs_ended_of(s, w);
    bool was_head = is_head(s, w);
    int64_t now_ns;

    fs_assert_held(s);
    fs_ahead_leaves(s, w);
    fs_waitq_leave(&s->queue, &w->in_queue);
    s->waiters--;
    fs_annotate_before(w);
    w->complete(w, end == FS_BY_GRANT ? FS_GRANTED : end == FS_BY_RETURN ? FS_NOT_JOINED : FS_ENDED, in);
    now_ns = fs_section_now(in);
    fs_count_ended(s, &ended, now_ns, end);
    if (!was_head)
        return;
    if (end == FS_BY_GRANT)
        learn(s, ended.joined_ns, ended.core, now_ns);
    else if (end == FS_BY_DEADLINE)
        learn_in_vain(s, ended.joined_ns, ended.core, now_ns);
    fs_head_has_changed(s, now_ns);
}
