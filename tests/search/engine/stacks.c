/* SPDX-License-Identifier: MIT */
/* stacks.c - the stacks of the fibres, and the library's static variables. */
#include "explorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Stacks ---- */

enum { STACK_USED = 8192 };     /* at most, of each */

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

size_t statics_size(void)
{
    return data_size() + bss_size();
}

void statics_check(void)
{
    if (data_size() > STATICS_SIZE / 2 || bss_size() > STATICS_SIZE / 2) {
        fprintf(stderr, "%s: the linker did not keep the library's variables together\n",
                program_name);
        exit(99);
    }
}

void statics_save(char *to)
{
    memcpy(to, xp_data_first, data_size());
    memcpy(to + data_size(), xp_bss_first, bss_size());
}

void statics_load(const char *from)
{
    memcpy(xp_data_first, from, data_size());
    memcpy(xp_bss_first, from + data_size(), bss_size());
}

uint64_t statics_hash(uint64_t hash)
{
    hash = mix(hash, xp_data_first, data_size());
    return mix(hash, xp_bss_first, bss_size());
}

bool in_statics(const void *at)
{
    size_t in_data = (size_t)((const char *)at - xp_data_first);
    size_t in_bss = (size_t)((const char *)at - xp_bss_first);

    return in_data < data_size() || in_bss < bss_size();
}
