/* SPDX-License-Identifier: MIT */
/*
 * states.c - states that have been seen need not be searched again, as in ../core/states.c.
 *
 * A state is the stacks, the private memory of live processes, the segments, the kernel's tables,
 * and the oracles' records.
 */
#include "dies.h"

#include "../core/seen.h"

enum { STATES = 1 << 22 };

static uint64_t slots[STATES];
static struct seen seen = { .slot = slots, .slots = STATES };

void states_forget(void)
{
    seen_forget(&seen);
}

bool states_seen(uint64_t state, int cost)
{
    return seen_before(&seen, state, cost);
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
