/* SPDX-License-Identifier: MIT */
/* queueing.c - into a semaphore's queue, and out of it; see queueing.h. */
#include "queueing.h"

#include "annotate.h"
#include "probes.h"

/* ---- Awake before its turn: the facts for awake.h, and what it answers ---- */

static bool is_head(const struct fs_sem *s, const struct fs_waiter *w)
{
    return fs_head(s) == &w->in_queue;
}

/* With bounded bypass, one that is awake would be granted directly, and threads could pass nobody. */
static inline struct fs_awake_facts facts_of(const struct fs_sem *s, const struct fs_waiter *w)
{
    return (struct fs_awake_facts){
        .joined_ns = w->joined_ns, .waiting = s->waiters,
        .units = s->bounded ? s->limit : fs_initial_units(s), .each = w->units,
        .is_head = is_head(s, w), .only_head = s->bypass_ns != 0, .never = s->sleeps_at_once,
    };
}

/*
 * The head is granted, or woken to claim.  There is nothing to learn if it became the head in this
 * same section, if it is a ticket, which has no thread, or if no thread may stay awake on this
 * semaphore.
 */
static void learn(struct fs_sem *s, int64_t joined_ns, int core, int64_t now_ns)
{
    int64_t head_ns = now_ns - s->head_since_ns;
    bool says = s->head_since_ns != 0 && head_ns != 0 && core != FS_NO_CORE && !s->sleeps_at_once;

    fs_awake_granted(&s->awake, core, says && s->waiters != 0 ? head_ns : 0);
    if (!says)
        return;
    fs_awake_learn(&s->awake, s->head_since_ns == joined_ns, head_ns, core);
    s->head_since_ns = 0;
}

/*
 * Wake a waiter ahead of its turn, if it sleeps (PARKED).  When it wakes it is QUEUED, as if it had
 * just joined, with a new plan.  Not if its handlers are not wrapped: to stay awake once more it
 * would have to hold its signals again.
 *
 * Relaxed: the state publishes the plan, or it is only a hint to a thread that is awake.
 */
static void wake_ahead(const struct fs_sem *s, struct fs_waiter *w, enum fs_plan plan,
                       struct fs_deferred *deferred)
{
    bool asleep = fs_waiter_state(w) == FS_PARKED;

    if (asleep && s->interruptible && fs_signal_hooks == NULL)
        return;
    if (asleep || plan == FS_PLAN_YIELD_NEXT)
        atomic_store_explicit(&w->in_queue.plan, plan, memory_order_relaxed);
    if (asleep)
        w->complete(w, FS_WOKEN, deferred);
}

/* The first of those near the head that joined on the core of this one; NULL: there is none. */
static struct fs_waiter *next_on_the_core_of(const struct fs_sem *s, const struct fs_waiter *joined)
{
    struct fs_waitq_node *node = fs_head(s);

    for (int i = 0; i < FS_AHEAD_PLACES && node != &joined->in_queue; i++) {
        if (node->core == joined->in_queue.core)
            return fs_waiter_of(node);
        node = fs_waitq_behind(&s->queue, node);
    }
    return NULL;
}

/* w has joined: make its plan, and wake another one ahead. */
static void plan_and_wake(struct fs_sem *s, struct fs_waiter *w, struct fs_deferred *deferred)
{
    const struct fs_awake_facts facts = facts_of(s, w);
    struct fs_waiter *next = NULL;
    enum fs_plan plan;
    enum fs_ahead ahead;

    fs_assert_held(s);
    w->in_queue.core = (int16_t)fs_cpu_current();
    ahead = fs_awake_joined(&s->awake, &facts, w->in_queue.core, &plan);
    atomic_store_explicit(&w->in_queue.plan, plan, memory_order_relaxed);
    if (ahead == FS_AHEAD_ON_CORE)
        next = next_on_the_core_of(s, w);
    if (next != NULL)
        wake_ahead(s, next, FS_PLAN_YIELD_NEXT, deferred);
    else if (ahead != FS_AHEAD_NOBODY)
        wake_ahead(s, fs_waiter_of(fs_head(s)), FS_PLAN_YIELD_WOKEN, deferred);
}

void fs_wake_next(struct fs_sem *s, struct fs_deferred *deferred)
{
    struct fs_waiter *head = fs_waiter_of(fs_head(s));
    const struct fs_awake_facts facts = facts_of(s, head);

    fs_assert_held(s);
    if (fs_awake_next(&s->awake, &facts))
        wake_ahead(s, head, FS_PLAN_SPIN_WOKEN, deferred);
}

void fs_wake_to_claim(struct fs_sem *s, struct fs_waiter *head, struct fs_deferred *deferred)
{
    learn(s, head->joined_ns, head->in_queue.core, fs_deferred_now(deferred, head->joined_ns));
    head->complete(head, FS_WOKEN, deferred);
}

/* ---- Age ---- */

/* False: it is not time yet, or it makes no difference. */
static bool grows_old(struct fs_sem *s, struct fs_waitq_node *node, struct fs_deferred *deferred)
{
    const struct fs_waiter *w = fs_waiter_of(node);
    int64_t old_at_ns = fs_old_at_ns(s, w);

    if (old_at_ns == 0 || fs_deferred_now(deferred, w->joined_ns) < old_at_ns)
        return false;
    node->kind = FS_OLD;
    return true;
}

struct fs_waitq_node *fs_note_age(struct fs_sem *s, struct fs_deferred *deferred)
{
    struct fs_waitq_node *head = fs_head(s), *oldest = s->queue.front;

    fs_assert_held(s);
    if (oldest == NULL || oldest->kind == FS_OLD || !grows_old(s, oldest, deferred)
        || oldest == head)
        return head;
    s->head_since_ns = deferred->now_ns;
    fs_probe_aged(s, s->name, fs_waiter_of(oldest)->units, oldest->seq,
                  deferred->now_ns - fs_waiter_of(oldest)->joined_ns);
    return oldest;
}

void fs_note_ages(struct fs_sem *s, struct fs_deferred *deferred)
{
    struct fs_waitq_node *node = s->queue.front;

    (void)fs_note_age(s, deferred);
    while (node != NULL && (node->kind == FS_OLD || grows_old(s, node, deferred)))
        node = fs_waitq_younger(&s->queue, node);
}

/* ---- Join ---- */

int fs_admit(struct fs_sem *s, int64_t n, bool waits, enum fs_patience patience)
{
    fs_assert_held(s);
    if (s->closed != 0 && patience < FS_DRAINS)
        return s->closed;
    if (fs_never_fits(s, n))
        return E2BIG;
    if (waits && patience == FS_TRIES)
        return EAGAIN;
    if (waits && (patience == FS_OUT_OF_TIME || patience == FS_DRAINS_OUT_OF_TIME))
        return ETIMEDOUT;
    if (waits && s->max_waiters != 0 && s->waiters >= s->max_waiters) {
        s->count.refused++;
        return ENOBUFS;
    }
    return 0;
}

/* The maximum of the interval is never above that of all time. */
static void note_length(struct fs_sem *s, uint32_t waiters)
{
    if (waiters <= s->waiters_max_interval)
        return;
    s->waiters_max_interval = waiters;
    if (waiters > s->waiters_max)
        s->waiters_max = waiters;
}

/*
 * A request that can be granted at once is no special case: it joins the queue as the head, and the
 * grant loop grants it at the end of the section.  But no statistic counts or times it.
 */
void fs_join(struct fs_sem *s, struct fs_waiter *w, int priority, bool waits)
{
    uint32_t waiters = s->waiters + 1;

    fs_assert_held(s);
    fs_waitq_join(&s->queue, &w->in_queue, priority, s->aging_ns != 0);
    fs_count_waiting(s, w->units, 1);
    fs_state_go(&fs_waiter_machine, &w->state, FS_QUEUED, memory_order_relaxed);
    w->joined_ns = 0;
    if (waits) {
        w->joined_ns = fs_now_ns();
        s->waits++;
        if (is_head(s, w))
            s->head_since_ns = w->joined_ns;
        note_length(s, waiters);
        fs_probe_wait_begin(s, s->name, w->units, w->in_queue.seq, w->in_queue.priority);
    }
    /* Last: a thread that sees w counted must find it waiting already. */
    atomic_store_explicit(&s->waiters, waiters, memory_order_release);
}

/*
 * No other thread knows of w, unless a token lists it.  Then the token's canceler must see, under
 * the mutex, that the wait has ended.  (When a refused wait stayed NOT_JOINED, a canceler took it
 * for one that had still to join.)
 */
static void refuse(struct fs_waiter *w, int reason)
{
    fs_set_reason(w, reason);
    fs_state_go(&fs_waiter_machine, &w->state, FS_REFUSED, memory_order_relaxed);
}

void fs_join_or_refuse(struct fs_sem *s, int64_t available, struct fs_waiter *w, int priority,
                       enum fs_patience patience, struct fs_deferred *deferred)
{
    bool waits;
    int error;

    (void)fs_head_now(s, deferred);     /* nobody leads before an old one */
    waits = fs_must_wait(s, available, w->units, priority);
    error = fs_admit(s, w->units, waits, patience);
    if (error != 0) {
        refuse(w, error);
        return;
    }
    fs_join(s, w, priority, waits);
    if (waits)
        plan_and_wake(s, w, deferred);
}

/* ---- Leave ---- */

struct fs_ended {
    int64_t  joined_ns;
    bool     was_head;
    bool     passed;    /* it was the head because it was old, before a better priority */
    int      core;
    int64_t  units;     /* for the probes, like seq */
    uint64_t seq;
};

/* The argument `why` of the probe. */
static const char *why_canceled(const struct fs_ended *ended, enum fs_waiter_state state)
{
    switch (state) {
    case FS_CANCELED:    return "token";
    case FS_INTERRUPTED: return "signal";
    case FS_REFUSED:     return "capacity";
    case FS_CLOSED:      return "close";
    default:             return ended->core == FS_NO_CORE ? "returned" : "thread";
    }
}

static void count_wait(struct fs_sem *s, const struct fs_ended *ended, int64_t waited_ns,
                       enum fs_waiter_state state)
{
    struct fs_counters *count = &s->count;

    if (waited_ns > INT64_MAX - s->wait_ns_total)
        s->wait_ns_total = INT64_MAX;   /* a million tickets, for a month each */
    else
        s->wait_ns_total += waited_ns;
    if (waited_ns > count->wait_ns_max_interval) {
        count->wait_ns_max_interval = waited_ns;
        if (waited_ns > count->wait_ns_max)
            count->wait_ns_max = waited_ns;
    }
    if (state == FS_GRANTED) {
        s->grants++;
        count->aged += ended->passed;
        fs_probe_grant(s, s->name, ended->units, ended->seq, waited_ns);
    } else if (state == FS_EXPIRED) {
        count->timeouts++;
        fs_probe_timeout(s, s->name, ended->units, ended->seq, waited_ns);
    } else {
        fs_probe_cancel(s, s->name, ended->units, ended->seq, waited_ns,
                        why_canceled(ended, state));
    }
}

/*
 * A wait has ended in `state`.  Its waiter may be gone by now (I8), so *ended has a copy of the
 * members that are still needed.
 */
static void note_end(struct fs_sem *s, const struct fs_ended *ended, enum fs_waiter_state state,
                     int64_t now_ns)
{
    count_wait(s, ended, now_ns - ended->joined_ns, state);
    if (!ended->was_head)
        return;
    if (state == FS_GRANTED)
        learn(s, ended->joined_ns, ended->core, now_ns);
    s->head_since_ns = now_ns;      /* for the next head */
}

static bool passes(const struct fs_sem *s, const struct fs_waiter *w)
{
    return s->aging_ns != 0 && w->in_queue.kind == FS_OLD
           && fs_waitq_best(&s->queue) != &w->in_queue;
}

/*
 * The waiter is completed before the clock is read and anything is counted: if its thread is awake,
 * it goes on at once, on another core, while this thread does the rest.
 */
void fs_leave(struct fs_sem *s, struct fs_waiter *w, enum fs_waiter_state state,
              struct fs_deferred *deferred)
{
    const struct fs_ended ended = { w->joined_ns, is_head(s, w), passes(s, w), w->in_queue.core,
                                    w->units, w->in_queue.seq };
    bool had_to_wait = fs_had_to_wait(w);

    fs_assert_held(s);
    fs_waitq_leave(&s->queue, &w->in_queue);
    fs_count_waiting(s, w->units, -1);
    atomic_store_explicit(&s->waiters, s->waiters - 1, memory_order_release);
    fs_annotate_before(w);
    w->complete(w, state, deferred);
    if (had_to_wait)
        note_end(s, &ended, state, fs_deferred_now(deferred, ended.joined_ns));
}
