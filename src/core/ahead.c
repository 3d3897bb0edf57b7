/* SPDX-License-Identifier: MIT */
/* ahead.c - see ahead.h. */
#include "ahead.h"

#include "resolve.h"
#include "share.h"
#include "tools/annotate.h"

/*
 * only_front: with bounded bypass only the front may be awake.  If the waiters behind the front were awake,
 * too, each of them would be granted directly once it is the front (bypass.c), and no running thread could
 * pass.
 */
static inline struct fs_awake_facts facts_of(struct fs_sem *s, const struct fs_waiter *w)
{
    return (struct fs_awake_facts){
        .enqueued_ns = w->enqueued_ns, .waiting = s->waiters,
        .units = fs_units_in_all(s), .each = w->units,
        .is_front = fs_front(s) == w, .only_front = (s->options & FS_BYPASS) != 0,
    };
}

/*
 * Pre-wake w if its thread sleeps (PARKED): the thread then does what the strategy says, as if w had just
 * been enqueued.  A thread that is awake gets FS_YIELD_NEXT or FS_YIELD_IN_QUEUE, but no other
 * strategy.
 *
 * No thread is pre-woken if the semaphore is interruptible and handlers are unhooked (signals.h): to stay
 * awake, a woken thread would have to block its signals again.
 */
static void prewake(struct fs_section *in, struct fs_waiter *w, enum fs_strategy strategy)
{
    bool asleep = fs_waiter_state(w) == FS_PARKED;

    if (asleep && (in->sem->options & FS_INTERRUPTIBLE) != 0 && fs_handlers_are_unhooked())
        return;
    if (asleep || strategy == FS_YIELD_NEXT || strategy == FS_YIELD_IN_QUEUE)
        fs_set_strategy(w, strategy);
    if (asleep)
        fs_resolve(w, FS_WOKEN, in);
}

/* ---- Few cores: a thread that is enqueued pre-wakes another one ---- */

/*
 * Among the first FS_PREWAKE_DEPTH waiters, returns the first that was enqueued on the core of `enqueued`,
 * or NULL.
 */
static struct fs_waiter *next_on_the_core_of(const struct fs_sem *s, const struct fs_waiter *enqueued)
{
    struct fs_waitq_node *node = fs_waitq_first(&s->queue);

    for (int i = 0; i < FS_PREWAKE_DEPTH && node != &enqueued->in_queue; i++) {
        if (node->core == enqueued->in_queue.core)
            return fs_waiter_of(node);
        node = fs_behind(s, node);
    }
    return NULL;
}

static void enqueued_in_convoy(struct fs_section *in, struct fs_waiter *w,
                               const struct fs_awake_facts *facts)
{
    struct fs_sem *s = in->sem;
    struct fs_waiter *next = NULL;
    enum fs_strategy strategy;
    enum fs_prewake whom = fs_awake_enqueued(&s->awake, facts, w->in_queue.core, &strategy);

    fs_set_strategy(w, strategy);
    if (whom == FS_PREWAKE_ON_CORE)
        next = next_on_the_core_of(s, w);
    if (next != NULL)
        prewake(in, next, FS_YIELD_NEXT);
    else if (whom != FS_PREWAKE_NOBODY)
        prewake(in, fs_front(s), FS_YIELD_WOKEN);
}

/* ---- Many cores: the first waiters are near ---- */

static void becomes_near(struct fs_sem *s, struct fs_waiter *w)
{
    w->in_queue.near = true;
    s->awake.near = (s->awake.near + 1U) & FS_NEAR_MAX;
}

/*
 * Move s->far to the next waiter that is not near.  A near waiter is behind s->far if s->far arrived later,
 * but has a better priority.
 */
void fs_ahead_next_is_far(struct fs_sem *s)
{
    struct fs_waitq_node *node = &s->far->in_queue;

    do
        node = fs_behind(s, node);
    while (node != NULL && node->near);
    s->far = fs_waiter_of(node);
}

static bool is_before_far(const struct fs_waiter *w, const struct fs_waiter *far)
{
    return far->in_queue.kind != FS_AGED && w->in_queue.priority < far->in_queue.priority;
}

/*
 * Make the new waiter w near if all other waiters are near, and if they are fewer than `near`.  Returns true
 * if w is near now.
 */
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

FS_ALWAYS_INLINE static void note_front(struct fs_sem *s, const struct fs_waiter *enqueued)
{
    if (fs_front(s) == enqueued)
        s->front_since_ns = enqueued->enqueued_ns;
}

void fs_ahead_enqueued_ticket(struct fs_section *in, struct fs_waiter *w)
{
    struct fs_sem *s = in->sem;

    note_front(s, w);
    if (!fs_awake_in_convoy())
        (void)place(s, w, 0);
}

void fs_ahead_enqueued(struct fs_section *in, struct fs_waiter *w)
{
    struct fs_sem *s = in->sem;
    const struct fs_awake_facts facts = facts_of(s, w);

    w->in_queue.core = (int16_t)fs_cpu_current();
    note_front(s, w);
    if (fs_awake_in_convoy())
        enqueued_in_convoy(in, w, &facts);
    else if (place(s, w, fs_awake_near(&s->awake, &facts, w->enqueued_ns)) || facts.is_front)
        fs_set_strategy(w, fs_awake_strategy_near(&s->awake, &facts));
}

/*
 * A grant removes one near waiter.  Up to two waiters become near, so that the number of near waiters can
 * grow when hand-off intervals get shorter.
 */
static void fill(struct fs_section *in, int near)
{
    struct fs_sem *s = in->sem;

    for (int i = 0; i < 2 && s->far != NULL && s->awake.near < near; i++) {
        struct fs_waiter *w = s->far;

        becomes_near(s, w);
        fs_ahead_next_is_far(s);
        if (w->in_queue.core != FS_NO_CORE)
            prewake(in, w, FS_YIELD_IN_QUEUE);
    }
}

void fs_ahead_granted(struct fs_section *in, struct fs_waiter *front)
{
    struct fs_sem *s = in->sem;
    struct fs_awake_facts facts;
    int near;

    fs_assert_held(s);
    facts = facts_of(s, front);
    if (fs_awake_in_convoy()) {
        if (fs_awake_prewakes_front(&s->awake, &facts, fs_section_now(in)))
            prewake(in, front, FS_SPIN_WOKEN);
        return;
    }
    near = fs_awake_near(&s->awake, &facts, fs_section_now(in));
    if (near == 0)
        return;
    /* If near is 1, yields do not pay at present: only the front is near, and it spins. */
    if (front->in_queue.core != FS_NO_CORE)
        prewake(in, front, near > 1 ? FS_YIELD_NEXT : FS_SPIN_WOKEN);
    if (near > 1)
        fill(in, near);
}

/* ---- Learning ---- */

/*
 * Can the semaphore learn from the front?  Not from a ticket, nor from a front that was woken to compete:
 * the semaphore has learned from the wake already.
 */
FS_ALWAYS_INLINE static bool teaches(const struct fs_sem *s, int core)
{
    return s->front_since_ns != 0 && core != FS_NO_CORE;
}

/*
 * Learn from a grant of the front, or from its wake to compete: from the time for which this waiter was the
 * front.  A time of 0 teaches nothing: the waiter became the front in this section.
 */
FS_ALWAYS_INLINE static void learn(struct fs_sem *s, int64_t enqueued_ns, int core, int64_t now_ns)
{
    int64_t front_ns = now_ns - s->front_since_ns;
    bool as_front = s->front_since_ns == enqueued_ns, others_wait = s->waiters != 0;
    bool teaches_something = front_ns != 0 && teaches(s, core);

    if (teaches_something && front_ns >= FS_PREEMPTED_NS)
        fs_awake_preempted(&s->awake, as_front, others_wait, front_ns, now_ns);
    fs_awake_granted(&s->awake, core, teaches_something && others_wait ? front_ns : 0);
    if (teaches_something)
        fs_awake_learn(&s->awake, as_front, front_ns, core);
}

void fs_ahead_front_left(struct fs_section *in, const struct fs_ended *ended, enum fs_end end)
{
    struct fs_sem *s = in->sem;
    int64_t now_ns = fs_section_now(in);

    if (end == FS_BY_GRANT)
        learn(s, ended->enqueued_ns, ended->core, now_ns);
    else if (end == FS_BY_DEADLINE && teaches(s, ended->core))
        fs_awake_learn_timed_out(&s->awake, s->front_since_ns == ended->enqueued_ns,
                               now_ns - s->front_since_ns);
    s->front_since_ns = now_ns;
}

void fs_ahead_woken_to_compete(struct fs_section *in, struct fs_waiter *front)
{
    fs_assert_held(in->sem);
    learn(in->sem, front->enqueued_ns, front->in_queue.core, fs_section_now(in));
    in->sem->front_since_ns = 0;
    /*
     * The thread uses this strategy if other threads take the units before the thread runs.  With many cores
     * the thread spins, because another release soon finds the thread awake, and grants the request.
     */
    fs_set_strategy(front, fs_awake_in_convoy() ? FS_SLEEP_AT_ONCE : FS_SPIN_WOKEN);
}
