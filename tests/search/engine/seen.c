/* SPDX-License-Identifier: MIT */
/*
 * seen.c - known states need not be searched again.
 *
 * A state is everything on which the next steps and the oracles depend: the stacks of stopped threads, the
 * memory of the library and of the scenario, and the explorer's records (state_now() in the explorer's
 * states.c).  If an earlier run has reached a state with as few preemptions or fewer, all continuations of the
 * state have been tried, or will be.
 *
 * States are compared by a hash of 64 bits.  With ten million states the probability that any two of them have
 * the same hash is one in 370,000.
 */
#include "explorer.h"

#include <string.h>

/* Open addressing.  An entry is a hash whose lowest 4 bits are replaced by the number of preemptions + 1. */
static uint64_t slot[STATES_MAX];
static size_t used;

void states_forget(void)
{
    if (used > 0)
        memset(slot, 0, sizeof slot);
    used = 0;
}

bool states_seen(uint64_t state, int cost)
{
    uint64_t key = state & ~UINT64_C(15), spent = (uint64_t)cost + 1;
    size_t at = (state >> 8) % STATES_MAX;

    for (; slot[at] != 0; at = (at + 1) % STATES_MAX) {
        if ((slot[at] & ~UINT64_C(15)) != key)
            continue;
        if ((slot[at] & 15) <= spent)
            return true;
        slot[at] = key | spent;
        return false;
    }
    if (used >= STATES_MAX / 4 * 3) {
        states_forget();        /* costs only time: the states will be searched again */
        at = (state >> 8) % STATES_MAX;
    }
    slot[at] = key | spent;
    used++;
    return false;
}

uint64_t mix(uint64_t hash, const void *from, size_t size)
{
    const char *at = from;
    uint64_t other = ~hash, word;

    if (size == 0)
        return hash;        /* below, `other` would cancel it */
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

/* Of an ended thread, no other member counts. */
uint64_t mix_thread(uint64_t hash, const struct thread *t)
{
    if (t->at == ENDED)
        return mix(hash, &t->at, sizeof t->at);
    hash = mix(hash, t, sizeof *t);
    return mix(hash, t->fibre.sp, (size_t)(stack_top(id_of(t)) - t->fibre.sp));
}
