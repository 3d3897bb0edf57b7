/* SPDX-License-Identifier: MIT */
/* stacks.c - the stacks of the fibres; the library's static variables, and its heap. */
#include "explorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Stacks ---- */

enum { STACK_USED = 8192 };     /* no thread uses more of its stack */

static _Alignas(64) char stack[THREADS][STACK_SIZE];

char *stack_top(int id)
{
    return stack[id] + STACK_SIZE;
}

int stack_owner(const void *at)
{
    uintptr_t offset = (uintptr_t)at - (uintptr_t)stack;

    return offset < sizeof stack ? (int)(offset / STACK_SIZE) : -1;
}

void stacks_clear(void)
{
    for (int i = 0; i < THREADS; i++)
        memset(stack_top(i) - STACK_USED, 0, STACK_USED);
}

/* ---- Static variables: initialized ones, then the others ---- */

static size_t data_size(void)
{
    return (size_t)(xp_data_last - xp_data_first);
}

static size_t bss_size(void)
{
    return (size_t)(xp_bss_last - xp_bss_first);
}

void statics_check(void)
{
    if (data_size() > STATICS_SIZE / 2 || bss_size() > STATICS_SIZE / 2) {
        fprintf(stderr, "%s: the linker did not keep the library's variables together\n",
                program_name);
        exit(99);
    }
}

bool in_statics(const void *at)
{
    size_t in_data = (size_t)((const char *)at - xp_data_first);
    size_t in_bss = (size_t)((const char *)at - xp_bss_first);

    return in_data < data_size() || in_bss < bss_size();
}

/* ---- The heap ---- */

static _Alignas(64) char heap[HEAP_SIZE];
static size_t heap_used;

void *heap_take(size_t size)
{
    char *block = heap + heap_used;

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

int heap_offset(const void *at)
{
    uintptr_t offset = (uintptr_t)at - (uintptr_t)heap;

    return offset < sizeof heap ? (int)offset : -1;
}

/* ---- Images: copies of the static variables and the heap ---- */

void image_save(struct image *to)
{
    memcpy(to->statics, xp_data_first, data_size());
    memcpy(to->statics + data_size(), xp_bss_first, bss_size());
    memcpy(to->heap, heap, heap_used);
    to->heap_used = heap_used;
}

void image_load(const struct image *from)
{
    memcpy(xp_data_first, from->statics, data_size());
    memcpy(xp_bss_first, from->statics + data_size(), bss_size());
    memcpy(heap, from->heap, from->heap_used);
    heap_used = from->heap_used;
}

uint64_t image_hash(uint64_t hash, const struct image *image)
{
    if (image != NULL) {
        hash = mix(hash, image->statics, data_size() + bss_size());
        return mix(hash, image->heap, image->heap_used);
    }
    hash = mix(hash, xp_data_first, data_size());
    hash = mix(hash, xp_bss_first, bss_size());
    return mix(hash, heap, heap_used);
}
