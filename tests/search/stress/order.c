/* SPDX-License-Identifier: MIT */
/* order.c - see order.h. */
#include "order.h"

#include <string.h>

void order_begin(struct order *o)
{
    *o = (struct order){ .length = 0 };
    for (int p = 0; p < ORDER_PRIORITIES; p++)
        atomic_store(&o->oldest[p], UINT64_MAX);
}

static void note_oldest(struct order *o, int priority)
{
    uint64_t seq = UINT64_MAX;

    for (int i = o->length - 1; i >= 0; i--) {
        if (o->queue[i].priority == priority)
            seq = o->queue[i].seq;
    }
    atomic_store_explicit(&o->oldest[priority], seq, memory_order_relaxed);
}

/* Release order: see order.h. */
void order_join(struct order *o, uint64_t seq, int priority)
{
    uint64_t joined = atomic_load_explicit(&o->joined, memory_order_relaxed);

    if (seq != joined || o->length == ORDER_LONGEST || priority < 0 || priority >= ORDER_PRIORITIES) {
        o->malformed++;
        return;
    }
    o->queue[o->length].seq = seq;
    o->queue[o->length++].priority = priority;
    note_oldest(o, priority);
    atomic_store_explicit(&o->joined, joined + 1, memory_order_release);
}

void order_leave(struct order *o, uint64_t seq, bool granted)
{
    bool passed = false;
    int i = 0, priority;

    while (i < o->length && o->queue[i].seq != seq)
        i++;
    if (i == o->length) {
        o->malformed++;
        return;
    }
    priority = o->queue[i].priority;
    for (int k = 0; k < o->length; k++)
        passed |= o->queue[k].priority < priority || (o->queue[k].priority == priority && k < i);
    o->passes_in_queue += granted && passed;
    o->length--;
    memmove(&o->queue[i], &o->queue[i + 1], (size_t)(o->length - i) * sizeof o->queue[0]);
    note_oldest(o, priority);
}

uint64_t order_before(const struct order *o)
{
    return atomic_load_explicit(&o->joined, memory_order_acquire);
}

bool order_passed(const struct order *o, uint64_t before, int priority)
{
    for (int p = 0; p < ORDER_PRIORITIES && p <= priority; p++) {
        if (atomic_load_explicit(&o->oldest[p], memory_order_relaxed) < before)
            return true;
    }
    return false;
}
