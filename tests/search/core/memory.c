/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the memory of the library and of the scenarios: stacks, static variables, a heap.
 *
 * It is restored before each run, so that all runs begin in the same state: the one after a run in
 * which threads have waited, or, for a cold scenario, the one when the program was loaded.
 */
#include "explore.h"

#include <string.h>

fairsem_t sems[SEMS_MAX];
fairsem_token_t the_token;
fairsem_ticket_t tickets[THREADS_MAX];

static _Alignas(64) char stack[THREADS_MAX][STACK_SIZE];
static _Alignas(64) char heap[HEAP_SIZE];
static size_t heap_used;

/* ---- The library's memory, and its saved states ---- */

extern char xp_data_first[], xp_data_last[], xp_bss_first[], xp_bss_last[];

struct image {
    char   data[4096], bss[4096], heap[HEAP_SIZE];
    size_t heap_used;
};
static struct image cold_image, warm_image;

static size_t data_size(void)
{
    return (size_t)(xp_data_last - xp_data_first);
}

static size_t bss_size(void)
{
    return (size_t)(xp_bss_last - xp_bss_first);
}

static void take_image(struct image *image)
{
    memcpy(image->data, xp_data_first, data_size());
    memcpy(image->bss, xp_bss_first, bss_size());
    memcpy(image->heap, heap, heap_used);
    image->heap_used = heap_used;
}

void memory_learn(void)
{
    if ((uintptr_t)xp_data_last - (uintptr_t)xp_data_first > sizeof cold_image.data
        || (uintptr_t)xp_bss_last - (uintptr_t)xp_bss_first > sizeof cold_image.bss) {
        fprintf(stderr, "explorer: the linker did not keep the library's variables together\n");
        exit(99);
    }
    take_image(&cold_image);
    take_image(&warm_image);
}

void memory_warm(void)
{
    take_image(&warm_image);
}

static void clear_stacks(void)
{
    static char *lowest[THREADS_MAX];

    for (int i = 0; i < THREADS_MAX; i++) {
        char *top = stack_top(i), *sp = thread[i].fibre.sp;

        /* One that crashed was left on another stack. */
        if (lowest[i] == NULL || (sp != NULL && stack_owner(sp) != i))
            lowest[i] = stack[i];
        else if (sp != NULL && sp - 2048 < lowest[i] && sp - 2048 >= stack[i])
            lowest[i] = sp - 2048;
        memset(lowest[i], 0, (size_t)(top - lowest[i]));
        if (lowest[i] == stack[i])
            lowest[i] = top - 4096;
    }
}

void memory_reset(bool cold)
{
    const struct image *image = cold ? &cold_image : &warm_image;

    clear_stacks();
    memcpy(xp_data_first, image->data, data_size());
    memcpy(xp_bss_first, image->bss, bss_size());
    memcpy(heap, image->heap, image->heap_used);
    heap_used = image->heap_used;
}

uint64_t memory_hash(uint64_t (*mix)(uint64_t, const void *, size_t))
{
    uint64_t hash = mix(2, xp_data_first, data_size());

    hash = mix(hash, xp_bss_first, bss_size());
    hash = mix(hash, heap, heap_used);
    hash = mix(hash, sems, (size_t)sems_count * sizeof sems[0]);
    hash = mix(hash, &the_token, sizeof the_token);
    return mix(hash, tickets, (size_t)threads_count * sizeof tickets[0]);
}

char *stack_top(int id)
{
    return stack[id] + STACK_SIZE;
}

int stack_owner(const void *at)
{
    uintptr_t offset = (uintptr_t)at - (uintptr_t)stack;

    return offset < sizeof stack ? (int)(offset / STACK_SIZE) : -1;
}

bool in_library(const void *at)
{
    size_t in_data = (size_t)((const char *)at - xp_data_first);
    size_t in_bss = (size_t)((const char *)at - xp_bss_first);

    return in_data < data_size() || in_bss < bss_size();
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
        trace_words("  ... and there is no memory\n");
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
