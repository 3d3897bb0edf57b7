/* SPDX-License-Identifier: MIT */
/*
 * states.c - states that have been seen need not be searched again.
 *
 * A state is everything that what happens next depends on, and everything that the oracles
 * will read: the stopped stacks, the memory of the library and of the scenario, what each
 * thread is about to do, the clock, the results so far and which call returned before which
 * began.  If a run comes to a state in which another has been, with as many preemptions spent
 * or fewer, all that can follow has been tried or is about to be.
 *
 * States are compared by a hash of 64 bits.  With ten million states the chance that any two
 * of them are taken for one is one in 370,000.
 */
#include "views.h"

#include <string.h>

enum { SLOTS = 1 << 21 };       /* 16 MiB */

static uint64_t slots[SLOTS];   /* the hash, except its lowest 4 bits: the preemptions + 1 */
static int used;

void states_forget(void)
{
    memset(slots, 0, sizeof slots);
    used = 0;
}

/* Has it been seen at no higher cost?  From now on it has. */
bool states_seen(uint64_t state, int cost)
{
    uint64_t key = state & ~UINT64_C(15), spent = (uint64_t)cost + 1;
    size_t at = (state >> 8) % SLOTS;

    for (; slots[at] != 0; at = (at + 1) % SLOTS) {
        if ((slots[at] & ~UINT64_C(15)) != key)
            continue;
        if ((slots[at] & 15) <= spent)
            return true;
        slots[at] = key | spent;
        return false;
    }
    if (used >= SLOTS / 4 * 3) {
        states_forget();    /* only costs time: they will be searched again */
        at = (state >> 8) % SLOTS;
    }
    slots[at] = key | spent;
    used++;
    return false;
}

static uint64_t mix(uint64_t hash, const void *from, size_t size)
{
    const char *at = from;
    uint64_t other = ~hash, word;

    for (; size >= 16; size -= 16, at += 16) {
        memcpy(&word, at, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
        memcpy(&word, at + 8, 8);
        other = (other ^ word) * UINT64_C(0xc2b2ae3d27d4eb4f);
        other ^= other >> 31;
    }
    while (size > 0) {
        size_t some = size < 8 ? size : 8;

        word = 0;
        memcpy(&word, at, some);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
        size -= some;
        at += some;
    }
    hash = (hash ^ other) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}

/* Of a thread that has ended only that is left. */
static uint64_t mix_thread(uint64_t hash, const struct thread *t)
{
    const char *top = stack_top(id_of(t));

    if (t->at == ENDED)
        return mix(hash, &t->at, sizeof t->at);
    hash = mix(hash, t, sizeof *t);
    return mix(hash, t->fibre.sp, (size_t)(top - t->fibre.sp));
}

uint64_t state_now(const struct thread *current)
{
    uint64_t hash = mix(1, &current, sizeof current);

    for (int k = 0; k < places; k++)
        hash = mix(hash, &run.call[place[k]], sizeof run.call[0]);
    hash = mix(hash, (const char *)&run + sizeof run.call, sizeof run - sizeof run.call);
    for (int i = 0; i < threads_count; i++)
        hash = mix_thread(hash, &thread[i]);
    if (limits.weak)
        hash = mix(hash, &(uint64_t){ views_hash(mix) }, sizeof(uint64_t));
    return memory_hash(mix) ^ hash;
}
