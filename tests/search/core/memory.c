/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the memory of the library and of the scenarios: static variables, a heap, stacks.
 *
 * The library's memory is restored before each run, so that all runs begin in the same state.  A cold scenario
 * begins in the state after the start of the program, any other in the state after a run in which threads have
 * waited.
 */
#include "explorer.h"

fairsem_t sems[SEMS_MAX];
fairsem_token_t the_token;
fairsem_ticket_t tickets[THREADS];
fairsem_share_t shares[SHARES];

static struct image cold_image, warm_image;

void memory_learn(void)
{
    statics_check();
    image_save(&cold_image);
    image_save(&warm_image);
}

void memory_warm(void)
{
    image_save(&warm_image);
}

void memory_reset(bool cold)
{
    stacks_clear();
    image_load(cold ? &cold_image : &warm_image);
}

uint64_t memory_hash(uint64_t hash)
{
    hash = image_hash(hash, NULL);
    hash = mix(hash, sems, (size_t)sems_count * sizeof sems[0]);
    hash = mix(hash, &the_token, sizeof the_token);
    hash = mix(hash, shares, script_uses_shares ? sizeof shares : 0);
    return mix(hash, tickets, (size_t)tickets_count * sizeof tickets[0]);
}

void *xp_malloc(size_t size)
{
    if (self != NULL && run.no_memory < scenario->no_memory && choose(2) == 1) {
        trace("  ... and there is no memory\n");
        run.no_memory++;
        return NULL;
    }
    return heap_take(size);
}
