/* SPDX-License-Identifier: MIT */
/* shared_awake.c - see shared_awake.h. */
#include "shared/shared_awake.h"

#include "cpu.h"
#include "deadline.h"
#include "shared/change.h"
#include "shared/shared_queue.h"

/*
 * If turns are longer, the head is not woken early.  (16 processes, 10 us each: 28,000 grants a
 * second without, 75,000 so.  If each holds a unit for 100 us, it brings nothing, and costs a third
 * more processor time.)
 */
#define SOON_FOR_HEAD_NS 100000

/* What is likely to pay off?  The granter maintains the time of a turn. */
static enum fs_spin_kind kind_to_begin(const struct fs_shared_awake *awake,
                                       const fairsem_shared_t *h, int64_t joined_ns, int64_t n)
{
    const struct fs_stay_awake *doubts = &h->segment->doubts;
    int64_t holders = h->unbounded ? 1 : fs_holders(fs_shared_total(h), n);

    if (awake->as_head && doubts->as_head < FS_DOUBT_HIGH && fs_cores_suffice(holders))
        return FS_SPIN_AS_HEAD;
    if (!fs_yields_pay(joined_ns))
        return FS_SPIN_NOT;
    if (awake->as_head)
        return doubts->as_head_here < FS_DOUBT_HIGH ? FS_YIELD_AS_HEAD : FS_SPIN_NOT;
    return fs_turn_is_near(doubts, FS_GET(&h->segment->waiters), holders) ? FS_YIELD_IN_QUEUE
                                                                          : FS_SPIN_NOT;
}

/* FS_NOBODY: there is none near the head, the holder needs that core, or turns are long. */
static int next_on_the_core_of(const fairsem_shared_t *h, int joined)
{
    int core = FS_GET(&h->slots[joined].core), next = FS_GET(&h->segment->head);

    if (core == FS_GET(&h->segment->holders_core)
        || fs_turn_ns(h->segment->doubts.turn) > FS_SOON_NS)
        return FS_NOBODY;
    for (int i = 0; i < FS_NEXT_PLACES && next != joined; i++) {
        if (!fs_index_valid(next, h->max_waiters))
            break;              /* damaged */
        if (FS_GET(&h->slots[next].core) == core)
            return next;
        next = FS_GET(&h->slots[next].next);
    }
    return FS_NOBODY;
}

/* It may be awake: then it only learns that it is next. */
static void tell(fairsem_shared_t *h, struct fs_section *section, int slot, enum fs_hint hint)
{
    bool asleep = FS_GET(&h->slots[slot].hint) == FS_SLOT_SLEEPS;

    if (asleep || hint == FS_HINT_NEXT)
        FS_PUT(&h->slots[slot].hint, (uint8_t)hint);
    if (asleep)
        fs_section_will_wake(h, section, slot);
}

/* By a thread that joins a crowd, as in the core: queueing.c. */
static void prepare_next(fairsem_shared_t *h, struct fs_section *section, int joined)
{
    int next = next_on_the_core_of(h, joined), head = FS_GET(&h->segment->head);

    if (next != FS_NOBODY)
        tell(h, section, next, FS_HINT_NEXT);
    else if (fs_turn_ns(h->segment->doubts.turn) <= SOON_FOR_HEAD_NS && head != joined
             && fs_index_valid(head, h->max_waiters))
        tell(h, section, head, FS_HINT_YIELD);
}

void fs_shared_awake_begin(struct fs_shared_awake *awake, fairsem_shared_t *h,
                           struct fs_section *section, int slot, int64_t n, int64_t joined_ns)
{
    awake->as_head = FS_GET(&h->segment->head) == slot;
    awake->core = h->spins ? fs_cpu_current() : FS_NO_CORE;
    awake->spin = FS_SPIN_NOT;
    FS_PUT(&h->slots[slot].core, (int16_t)awake->core);
    FS_PUT(&h->slots[slot].hint, FS_HINT_NONE);
    if (!h->spins)
        return;
    awake->spin = kind_to_begin(awake, h, joined_ns, n);
    if (FS_GET(&h->segment->waiters) > FS_FEW)
        prepare_next(h, section, slot);
}

bool fs_shared_stay_awake(struct fs_shared_awake *awake, fairsem_shared_t *h, int slot,
                          int64_t joined_ns, const struct fs_deadline *deadline)
{
    struct fs_slot *s = &h->slots[slot];
    int hint = FS_GET(&s->hint);
    enum fs_spin_kind kind = awake->spin;

    if (kind == FS_SPIN_NOT && (hint == FS_HINT_NEXT || hint == FS_HINT_YIELD))
        kind = FS_YIELD_WOKEN;
    awake->spin = FS_SPIN_NOT;
    if (kind != FS_SPIN_NOT && !fs_yields_past(kind, deadline))
        fs_spin(&s->state, FS_SLOT_WAITING, kind, joined_ns, &s->hint);
    if (fs_slot_state_of(s) != FS_SLOT_WAITING)
        return false;
    FS_PUT(&s->hint, FS_SLOT_SLEEPS);
    return true;
}

/*
 * In the core the granter learns.  Here the waiter does, because the granter's process may never
 * have had a thread woken, and then does not know how long a wake-up takes.
 */
void fs_shared_awake_learn(const struct fs_shared_awake *awake, fairsem_shared_t *h, int slot,
                           int64_t joined_ns)
{
    struct fs_stay_awake doubts = h->segment->doubts;
    int64_t head_ns = fs_since(FS_GET(&h->slots[slot].granted_ns), joined_ns);
    bool same_core = FS_GET(&h->slots[slot].core) == awake->core;

    if (!h->spins || !awake->as_head)
        return;
    fs_stay_awake_learn(&doubts, true, head_ns, same_core ? fs_cpu_current() : FS_NO_CORE);
    h->segment->doubts = doubts;
}
