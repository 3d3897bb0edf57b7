/* SPDX-License-Identifier: MIT */
/*
 * warden.c - one per arena: changes its capacity and makes debts, and counts units every second.
 *
 * One thread does both, so that the arena has its own capacity and no debt when it counts.
 */
#include "soak.h"

#include <stdlib.h>
#include <string.h>

#define BETWEEN_CHECKS_NS INT64_C(1000000000)
#define PAUSE_NS          INT64_C(2000000)
#define LEAK              (1 << 14)

/* Make one of several changes, and undo it. */
static int interfere(struct actor *a)
{
    struct arena *arena = a->arena;
    int64_t n = 1 + next(&a->seed) % 4;
    int result;

    if (arena->bounded && next(&a->seed) % 2 == 0) {
        result = fairsem_set_capacity(&arena->sem, next(&a->seed) % (uint32_t)(arena->most + 1));
        moment();
        return result | fairsem_set_capacity(&arena->sem, arena->units);
    }
    result = fairsem_consume(&arena->sem, n);
    moment();
    return result | fairsem_release(&arena->sem, n);
}

/* The faults that the soak is asked to commit. */
static void commit(struct actor *a, enum fault fault)
{
    void *memory;

    if (a->arena->bounded || fault != a->soak->fault)
        return;
    switch (fault) {
    case FAULT_LOST:
        fairsem_consume(&a->arena->sem, 1);
        break;
    case FAULT_MADE:
        fairsem_release(&a->arena->sem, 1);
        break;
    case FAULT_LEAK:
        memory = malloc(LEAK);
        if (memory != NULL)
            memset(memory, 1, LEAK);
        atomic_store(&a->soak->leaked, memory);
        break;
    case NO_FAULT:
        break;
    }
}

void guard(struct actor *a)
{
    struct soak *s = a->soak;

    while (!is_over(s)) {
        const int64_t end = now_ns() + BETWEEN_CHECKS_NS;
        const char *wrong;

        do {
            if (interfere(a) != 0)
                complain(s, "%s: the warden's own acts fail", a->arena->name);
            commit(a, FAULT_LEAK);
            beat(a);
            rest(s, PAUSE_NS);
        } while (!is_over(s) && now_ns() < end);
        commit(a, FAULT_LOST);
        commit(a, FAULT_MADE);
        wrong = arena_check(a->arena);
        atomic_fetch_add(&s->checks, 1);
        beat(a);
        if (wrong != NULL)
            complain(s, "%s: %s", a->arena->name, wrong);
    }
}
