/* SPDX-License-Identifier: MIT */
/*
 * states.c - states that have been seen need not be searched again, as in ../explore/states.c.
 *
 * A state is the stacks, the private memory of the living, the segments, what the kernel knows, and
 * what the oracles remember.
 */
#include "dies.h"

#include <string.h>

enum { STATES = 1 << 22 };

static uint64_t seen[STATES];       /* the hash, except its lowest 4 bits: the preemptions + 1 */
static int used;

void states_forget(void)
{
    if (used > 0)
        memset(seen, 0, sizeof seen);
    used = 0;
}

/* Has it been seen at no higher cost?  From now on it has. */
bool states_seen(uint64_t state, int cost)
{
    uint64_t key = state & ~UINT64_C(15), spent = (uint64_t)cost + 1;
    size_t at = (state >> 8) % STATES;

    for (; seen[at] != 0; at = (at + 1) % STATES) {
        if ((seen[at] & ~UINT64_C(15)) != key)
            continue;
        if ((seen[at] & 15) <= spent)
            return true;
        seen[at] = key | spent;
        return false;
    }
    if (used >= STATES / 4 * 3) {
        states_forget();    /* only costs time: they will be searched again */
        at = (state >> 8) % STATES;
    }
    seen[at] = key | spent;
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
    word = 0;
    memcpy(&word, at, size < 8 ? size : 8);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    if (size > 8) {
        word = 0;
        memcpy(&word, at + 8, size - 8);
        hash = (hash ^ hash >> 29 ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    }
    hash = (hash ^ other) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}

static uint64_t mix_thread(uint64_t hash, const struct thread *t)
{
    if (t->at == ENDED || t->at == UNBORN)
        return mix(hash, &t->at, sizeof t->at);
    hash = mix(hash, t, sizeof *t);
    return mix(hash, t->fibre.sp, (size_t)(stack_top(id_of(t)) - t->fibre.sp));
}

uint64_t state_now(const struct thread *current, int what_for)
{
    uint64_t hash = mix((uint64_t)what_for + 1, &current, sizeof current);

    hash = mix(hash, &run, sizeof run);
    for (int i = 0; i < THREADS; i++) {
        if (thread[i].exists)
            hash = mix_thread(hash, &thread[i]);
    }
    for (int i = 0; i < FILES; i++) {
        if (run.file[i].made)
            hash = mix(hash, kernel_memory(i), (size_t)run.file[i].size);
    }
    return process_hash(hash, mix);
}
