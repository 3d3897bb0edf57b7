/* SPDX-License-Identifier: MIT */
/* ahead.c - see ahead.h. */
#include "ahead.h"

#include "annotate.h"

/* only_head: with bounded bypass, one that is awake is granted directly, so nobody could pass. */
static inline struct fs_awake_facts facts_of(struct fs_sem *s, const struct fs_waiter *w,
                                             bool is_the_head)
{
    return (struct fs_awake_facts){
        .joined_ns = w->joined_ns, .waiting = s->waiters,
        .units = fs_units_in_all(s), .each = w->units,
        .is_head = is_the_head, .only_head = s->bypass_ns != 0,
    };
}

/*
 * Wake a waiter ahead of its turn, if it sleeps (PARKED).  When it wakes it is QUEUED, as if it had
 * just joined, with a new plan; two of the plans are also for a thread that is awake.  Not if handlers
 * are bare: to stay awake once more it would have to hold its signals again.
 */
static void wake_ahead(struct fs_section *in, struct fs_waiter *w, enum fs_plan plan)
{
    bool asleep = fs_waiter_state(w) == FS_PARKED;

    if (asleep && fs_handlers_are_bare(in->sem->interruptible))
        return;
    if (asleep || plan == FS_PLAN_YIELD_NEXT || plan == FS_PLAN_YIELD_IN_QUEUE)
        fs_set_plan(w, plan);
    if (asleep)
        w->complete(w, FS_WOKEN, in);
}

/* ---- Few cores: the next to join wakes one ahead ---- */

/* The first of those near the head that joined on the core of this one; NULL: there is none. */
static struct fs_waiter *next_on_the_core_of(const struct fs_sem *s, const struct fs_waiter *joined)
{
    struct fs_waitq_node *node = fs_waitq_first(&s->queue);

    for (int i = 0; i < FS_AHEAD_PLACES && node != &joined->in_queue; i++) {
        if (node->core == joined->in_queue.core)
            return fs_waiter_of(node);
        node = fs_waitq_behind(&s->queue, node);
    }
    return NULL;
}

static void joined_a_crowd(struct fs_section *in, struct fs_waiter *w,
                           const struct fs_awake_facts *facts)
{
    struct fs_sem *s = in->sem;
    struct fs_waiter *next = NULL;
    enum fs_plan plan;
    enum fs_ahead ahead = fs_awake_joined(&s->awake, facts, w->in_queue.core, &plan);

    fs_set_plan(w, plan);
    if (ahead == FS_AHEAD_ON_CORE)
        next = next_on_the_core_of(s, w);
    if (next != NULL)
        wake_ahead(in, next, FS_PLAN_YIELD_NEXT);
    else if (ahead != FS_AHEAD_NOBODY)
        wake_ahead(in, fs_head(s), FS_PLAN_YIELD_WOKEN);
}

/* ---- Many cores: the first waiters are near ---- */

static void becomes_near(struct fs_sem *s, struct fs_waiter *w)
{
    w->in_queue.near = true;
    s->awake.near = (s->awake.near + 1U) & FS_NEAR_MAX;
}

/* The first behind s->far that is not near.  Those near between them had a better priority. */
void fs_ahead_next_is_far(struct fs_sem *s)
{
    struct fs_waitq_node *node = &s->far->in_queue;

    do
        node = fs_waitq_behind(&s->queue, node);
    while (node != NULL && node->near);
    s->far = fs_waiter_of(node);
}

static bool is_before_far(const struct fs_waiter *w, const struct fs_waiter *far)
{
    return far->in_queue.kind != FS_OLD && w->in_queue.priority < far->in_queue.priority;
}

/* It has joined.  Is it near, where so many are? */
static bool place(struct fs_sem *s, struct fs_waiter *w, int near)
{
    if (s->far == NULL && s->awake.near < near) {
        becomes_near(s, w);
        return true;
    }
    if (s->far == NULL || is_before_far(w, s->far))
        s->far = w;
    return false;
}

void fs_ahead_place_ticket(struct fs_sem *s, struct fs_waiter *w)
{
    if (!fs_awake_in_crowd())
        (void)place(s, w, 0);
}

void fs_ahead_place(struct fs_section *in, struct fs_waiter *w, bool is_the_head)
{
    struct fs_sem *s = in->sem;
    const struct fs_awake_facts facts = facts_of(s, w, is_the_head);

    if (fs_awake_in_crowd())
        joined_a_crowd(in, w, &facts);
    else if (place(s, w, fs_awake_near(&s->awake, &facts, w->joined_ns)) || is_the_head)
        fs_set_plan(w, fs_awake_plan_near(&s->awake, &facts));
}

/* One leaves the near at each grant, so two can come near: their number grows when turns get shorter. */
static void fill(struct fs_section *in, int near)
{
    struct fs_sem *s = in->sem;

    for (int i = 0; i < 2 && s->far != NULL && s->awake.near < near; i++) {
        struct fs_waiter *w = s->far;

        becomes_near(s, w);
        fs_ahead_next_is_far(s);
        if (w->in_queue.core != FS_NO_CORE)
            wake_ahead(in, w, FS_PLAN_YIELD_IN_QUEUE);
    }
}

void fs_ahead_granted(struct fs_section *in, struct fs_waiter *head)
{
    struct fs_sem *s = in->sem;
    struct fs_awake_facts facts;
    int near;

    fs_assert_held(s);
    if (s->sleeps_at_once)
        return;
    facts = facts_of(s, head, true);
    if (fs_awake_in_crowd()) {
        if (fs_awake_next(&s->awake, &facts, fs_section_now(in)))
            wake_ahead(in, head, FS_PLAN_SPIN_WOKEN);
        return;
    }
    near = fs_awake_near(&s->awake, &facts, fs_section_now(in));
    if (near == 0)
        return;
    /* Only one is near while yields do not pay: the head spins. */
    if (head->in_queue.core != FS_NO_CORE)
        wake_ahead(in, head, near > 1 ? FS_PLAN_YIELD_NEXT : FS_PLAN_SPIN_WOKEN);
    if (near > 1)
        fill(in, near);
}
