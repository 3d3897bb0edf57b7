/* SPDX-License-Identifier: MIT */
/*
 * states.c - hashes the state of a run (../engine/seen.c): memory, stacks, the next operation of each thread,
 * the clock, the results so far, and for each call the calls that had returned before.
 */
#include "views.h"

uint64_t state_now(const struct thread *current)
{
    uint64_t hash = mix(1, &current, sizeof current);

    for (int k = 0; k < places; k++)
        hash = mix(hash, &run.call[place[k]], sizeof run.call[0]);
    hash = mix(hash, (const char *)&run + sizeof run.call, sizeof run - sizeof run.call);
    for (int i = 0; i < threads_count; i++)
        hash = mix_thread(hash, &thread[i]);
    if (limits.own)
        hash = mix(hash, &(uint64_t){ views_hash() }, sizeof(uint64_t));
    return memory_hash(hash);
}
