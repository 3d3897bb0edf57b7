/* SPDX-License-Identifier: MIT */
/*
 * states.c - states that have been seen need not be searched again.
 *
 * A state is all that the next steps depend on, and all that the oracles will load: the stopped
 * stacks, the memory of the library and of the scenario, the next operation of each thread, the
 * clock, the results so far, and which call returned before which began.  If an earlier run has
 * reached a state with as few preemptions or fewer, all that can follow has been tried or will be.
 *
 * States are compared by a hash of 64 bits.  With ten million states the probability that any two
 * of them have the same hash is one in 370,000.
 */
#include "seen.h"
#include "views.h"

enum { SLOTS = 1 << 21 };       /* 16 MiB */

static uint64_t slots[SLOTS];
static struct seen seen = { .slot = slots, .slots = SLOTS };

void states_forget(void)
{
    seen_forget(&seen);
}

bool states_seen(uint64_t state, int cost)
{
    return seen_before(&seen, state, cost);
}

/* A thread that has ended has no other state. */
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
