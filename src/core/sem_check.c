/* SPDX-License-Identifier: MIT */
/* sem_check.c - see sem_check.h. */
#include "sem_check.h"

#include "share.h"

#if FS_CHECKED

/* ---- The transitions of a waiter ---- */

#define TO(state) (1u << (state))
#define OUT_OF_THE_QUEUE (TO(FS_GRANTED) | TO(FS_ENDED))

/* The states that may follow each state: see the drawings in waiter.h and ticket.h. */
static const unsigned transitions[] = {
    [FS_NOT_QUEUED] = TO(FS_QUEUED) | OUT_OF_THE_QUEUE | TO(FS_BUSY),
    [FS_QUEUED] = TO(FS_PARKED) | TO(FS_WOKEN) | OUT_OF_THE_QUEUE | TO(FS_CLOSED) | TO(FS_NOT_QUEUED),
    [FS_PARKED] = TO(FS_WOKEN) | TO(FS_QUEUED) | OUT_OF_THE_QUEUE,
    [FS_WOKEN] = TO(FS_QUEUED) | OUT_OF_THE_QUEUE,
    [FS_GRANTED] = TO(FS_GRANTED | FS_BUSY),
    [FS_ENDED] = TO(FS_ENDED | FS_BUSY),
    [FS_CLOSED] = TO(FS_CLOSED | FS_BUSY),
    [FS_BUSY] = TO(FS_QUEUED) | TO(FS_GRANTED) | TO(FS_NOT_QUEUED),
    [FS_GRANTED | FS_BUSY] = TO(FS_NOT_QUEUED),
    [FS_ENDED | FS_BUSY] = TO(FS_NOT_QUEUED),
    [FS_CLOSED | FS_BUSY] = TO(FS_NOT_QUEUED),
};

void fs_check_transition(int from, int to)
{
    char what[80];

    if ((transitions[from] & TO(to)) != 0)
        return;
    snprintf(what, sizeof what, "I4: a waiter goes from state %d to %d", from, to);
    fs_stop(FS_HERE "broken: ", what);
}

/* ---- At the end of a section ---- */

/* How many waiters are checked, from the front on. */
#define WALKED 64

static bool in_order(const struct fs_waitq_node *before, const struct fs_waitq_node *node)
{
    if (before->kind == FS_AGED)
        return node->kind == FS_NOT_AGED || before->seq < node->seq;
    return node->kind != FS_AGED && (before->priority < node->priority
           || (before->priority == node->priority && before->seq < node->seq));
}

static const struct fs_share *share_of(const struct fs_waitq_node *node)
{
    return ((const struct fs_waiter *)(const void *)node)->share;
}

static void check_queue(const struct fs_sem *s)
{
    const struct fs_waitq_node *before = NULL, *node = fs_waitq_first(&s->queue);
    int64_t walked = 0, near = 0;
    bool far_is_there = s->far == NULL;

    while (node != NULL && walked < WALKED) {
        FS_INVARIANT(fs_in_queue((const struct fs_waiter *)(const void *)node),
                     "I4: a waiter in the queue is in a state that says it is not");
        FS_INVARIANT(node->in_ring.next->prev == &node->in_ring
                         && node->in_ring.prev->next == &node->in_ring,
                     "the queue: a ring is broken");
        FS_INVARIANT(before == NULL || share_of(before) != share_of(node) || in_order(before, node),
                     "I6: the queue is not in the order of arrival");
        near += node->near;
        far_is_there |= s->far == fs_waiter_of((struct fs_waitq_node *)(uintptr_t)node) && !node->near;
        before = node;
        node = fs_behind(s, node);
        walked++;
    }
    FS_INVARIANT(node != NULL ? s->waiters > walked : s->waiters == walked,
                 "I4: the number of waiters is not that of those in the queue");
    FS_INVARIANT(node != NULL || near == s->awake.near, "the near are counted wrongly");
    FS_INVARIANT(node != NULL || far_is_there, "the first that is not near is not in the queue, or is near");
    FS_INVARIANT((int64_t)s->tickets <= s->waiters, "more tickets than waiters");
    if (fs_has_flows(s))
        fs_check_flows(s);
}

static void check_front_waiter(const struct fs_sem *s, int64_t available, bool competes)
{
    const struct fs_waiter *front;

    if (fs_waitq_empty(&s->queue)) {
        FS_INVARIANT(!competes, "I2: the front waiter is on its way, and nobody is in the queue");
        FS_INVARIANT(s->waiting_low == 0 && s->waiting_high == 0,
                     "nobody waits, and units are asked for");
        return;
    }
    front = fs_waiter_of(fs_waitq_first(&s->queue));
    FS_INVARIANT(!fs_fits(s, available, front->units) || competes,
                 "I2, I7: the front of the queue fits, and is not granted");
    FS_INVARIANT(!competes || (front->units <= available && fs_waiter_state(front) != FS_PARKED),
                 "I2: the front waiter should be on its way, and is not");
    FS_INVARIANT(s->closed == 0 || s->tickets == 0, "a closed semaphore has tickets in its queue");
}

void fs_check_invariants(const struct fs_sem *s, int64_t available, bool competes)
{
    int64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);

    /* The lowest count: fairsem_consume() makes the largest debt, and then the largest capacity becomes 0. */
    FS_INVARIANT(available >= -2 * FAIRSEM_MAX_UNITS && available <= FAIRSEM_MAX_UNITS,
                 "I1: the count is out of range");
    FS_INVARIANT((word & FS_CONTENDED) != 0, "I3: in a section the word has CONTENDED");
    FS_INVARIANT(s->resized != FS_IN_RESIZE, "a resize has not ended");
    FS_INVARIANT(fs_waits(s) - s->grants - s->timeouts >= s->waiters,
                 "the statistics do not add up");
    check_queue(s);
    check_front_waiter(s, available, competes);
}

#else
typedef int translation_unit_not_empty;
#endif
