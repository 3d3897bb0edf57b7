/* SPDX-License-Identifier: MIT */
/* shared_awake.c - see shared_awake.h. */
#include "shared/shared_awake.h"

#include "shared/shared_queue.h"
#include "system/system.h"

/*
 * Set the strategy of a slot whose thread sleeps; or of any slot, if the strategy is FS_YIELD_NEXT.
 * Returns the slot if its thread must be woken, or FS_NOBODY.
 */
static int shared_prewake(fairsem_shared_t *h, int slot, enum fs_strategy strategy)
{
    _Atomic uint8_t *theirs = &h->slots[slot].strategy;
    bool asleep = FS_GET(theirs) == FS_SLOT_SLEEPS;

    if (asleep || strategy == FS_YIELD_NEXT)
        FS_PUT(theirs, (uint8_t)strategy);
    return asleep ? slot : FS_NOBODY;
}

/* Returns the first of FS_PREWAKE_DEPTH slots ahead of `enqueued` that was enqueued on `core`; or FS_NOBODY. */
static int next_on_core(struct fs_shared_section *in, int core, int enqueued)
{
    int next = fs_queue_front(in);

    for (int i = 0; i < FS_PREWAKE_DEPTH && next != enqueued && next != FS_NOBODY; i++) {
        if (FS_GET(&in->handle->slots[next].core) == core)
            return next;
        next = fs_queue_behind(in, next);
    }
    return FS_NOBODY;
}

int fs_shared_awake_begin(struct fs_shared_awake *awake, struct fs_shared_section *in, int slot,
                          int64_t n, int64_t enqueued_ns)
{
    fairsem_shared_t *h = in->handle;
    const struct fs_awake known = h->segment->awake;
    int front = fs_queue_front(in), next = FS_NOBODY;
    const struct fs_awake_facts facts = {
        .enqueued_ns = enqueued_ns, .waiting = FS_GET(&h->segment->waiters),
        .units = h->unbounded ? 1 : in->total, .each = n,
        .is_front = front == slot, .prewake_unknown = true,
    };
    enum fs_strategy strategy = FS_SLEEP_AT_ONCE;
    enum fs_prewake whom = FS_PREWAKE_NOBODY;

    awake->as_front = facts.is_front;
    awake->core = h->spins ? fs_cpu_current() : FS_NO_CORE;
    if (h->spins)
        whom = fs_awake_enqueued(&known, &facts, awake->core, &strategy);
    FS_PUT(&h->slots[slot].core, (int16_t)awake->core);
    FS_PUT(&h->slots[slot].strategy, (uint8_t)strategy);
    if (whom == FS_PREWAKE_ON_CORE)
        next = next_on_core(in, awake->core, slot);
    if (next != FS_NOBODY)
        return shared_prewake(h, next, FS_YIELD_NEXT);
    if (whom != FS_PREWAKE_NOBODY && front != FS_NOBODY)
        return shared_prewake(h, front, FS_YIELD_WOKEN);
    return FS_NOBODY;
}

bool fs_shared_stay_awake(fairsem_shared_t *h, int slot, int64_t enqueued_ns,
                          const struct fs_deadline *deadline)
{
    struct fs_slot *s = &h->slots[slot];

    (void)fs_awake_stay(&s->state, FS_SLOT_WAITING, &s->strategy, enqueued_ns, deadline);
    if (fs_slot_state_of(s) != FS_SLOT_WAITING)
        return false;
    FS_PUT(&s->strategy, FS_SLOT_SLEEPS);
    return true;
}

void fs_shared_awake_slept(const fairsem_shared_t *h, int slot, int64_t enqueued_ns)
{
    int64_t granted_ns = FS_GET(&h->slots[slot].granted_ns);

    if (h->spins && granted_ns >= enqueued_ns && granted_ns <= fs_now_ns())
        fs_awake_slept(granted_ns);
}

/*
 * The hand-off interval is unknown (0) if this waiter was enqueued after the previous grant, if no other waiter
 * is left, or if this section made the previous grant: then the two grants have the same time.
 */
void fs_shared_awake_granted(fairsem_shared_t *h, int front, int core, int64_t now_ns)
{
    struct fs_awake known = h->segment->awake;
    int64_t before = FS_GET(&h->segment->granted_ns);

    FS_PUT(&h->segment->granted_ns, now_ns);
    if (FS_GET(&h->slots[front].enqueued_ns) > before || FS_GET(&h->segment->waiters) == 0)
        before = now_ns;
    fs_awake_granted(&known, core, fs_since(now_ns, before));
    h->segment->awake = known;
}

/*
 * In the core the granter calls fs_awake_learn().  Between processes the waiter does, because the granter's
 * process may never have measured a wake-up.
 */
void fs_shared_awake_learn(const struct fs_shared_awake *awake, fairsem_shared_t *h, int slot,
                           int64_t enqueued_ns)
{
    struct fs_awake known = h->segment->awake;
    int64_t front_ns = fs_since(FS_GET(&h->slots[slot].granted_ns), enqueued_ns);
    bool same_core = FS_GET(&h->slots[slot].core) == awake->core;

    if (!h->spins || !awake->as_front)
        return;
    fs_awake_learn(&known, true, front_ns, same_core ? fs_cpu_current() : FS_NO_CORE);
    h->segment->awake = known;
}

void fs_shared_awake_learn_timed_out(const struct fs_shared_awake *awake, fairsem_shared_t *h,
                                   int64_t enqueued_ns)
{
    struct fs_awake known = h->segment->awake;

    if (!h->spins || !awake->as_front)
        return;
    fs_awake_learn_timed_out(&known, true, fs_since(fs_now_ns(), enqueued_ns));
    h->segment->awake = known;
}
