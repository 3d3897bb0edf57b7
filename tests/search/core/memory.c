/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the memory of the library and of the scenarios: static variables, a heap, stacks.
 *
 * It is restored before each run, so that all runs begin in the same state: the one after a run in
 * which threads have waited, or, for a cold scenario, the one when the program was loaded.
 */
#include "explorer.h"

#include <string.h>

fairsem_t sems[SEMS_MAX];
fairsem_token_t the_token;
fairsem_ticket_t tickets[THREADS];

static _Alignas(64) char heap[HEAP_SIZE];
static size_t heap_used;

/* ---- The library's memory, and its saved states ---- */

struct image {
    char   statics[STATICS_SIZE], heap[HEAP_SIZE];
    size_t heap_used;
};
static struct image cold_image, warm_image;

static void take_image(struct image *image)
{
    statics_save(image->statics);
    memcpy(image->heap, heap, heap_used);
    image->heap_used = heap_used;
}

void memory_learn(void)
{
    statics_check();
    take_image(&cold_image);
    take_image(&warm_image);
}

void memory_warm(void)
{
    take_image(&warm_image);
}

void memory_reset(bool cold)
{
    const struct image *image = cold ? &cold_image : &warm_image;

    stacks_clear();
    statics_load(image->statics);
    memcpy(heap, image->heap, image->heap_used);
    heap_used = image->heap_used;
}

uint64_t memory_hash(uint64_t hash)
{
    hash = statics_hash(hash);
    hash = mix(hash, heap, heap_used);
    hash = mix(hash, sems, (size_t)sems_count * sizeof sems[0]);
    hash = mix(hash, &the_token, sizeof the_token);
    return mix(hash, tickets, (size_t)tickets_count * sizeof tickets[0]);
}

int heap_offset(const void *at)
{
    uintptr_t offset = (uintptr_t)at - (uintptr_t)heap;

    return offset < sizeof heap ? (int)offset : -1;
}

/* ---- malloc: a block is freed only if the library could not use it ---- */

void *xp_malloc(size_t size)
{
    char *block = heap + heap_used;

    if (self != NULL && run.no_memory < scenario->no_memory && choose(2) == 1) {
        trace("  ... and there is no memory\n");
        run.no_memory++;
        return NULL;
    }
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof heap - heap_used)
        fail("explorer", "the heap is too small");
    heap_used += size;
    memset(block, 0, size);
    return block;
}

void xp_free(void *block)
{
    (void)block;
}
