/* SPDX-License-Identifier: MIT */
/*
 * warden.c - one for each arena: changes its capacity, makes debts, and counts its units.
 *
 * One thread does all that, so that the arena has its own capacity and no debt during a count.
 *
 * CONSERVATION is checked without stopping any thread: an ordinary acquire takes all units, waiting in the queue like
 * others.  When it returns, all holders have released their units, so that no unit is available, and none is held
 * by the holders' own count.  A unit too many would be in one of these.  If a unit was lost, the acquire does not
 * return, which the watch in stress.c reports.
 */
#include "actors.h"

#include <stdlib.h>
#include <string.h>

#define PAUSE_NS INT64_C(1000000)
#define LEAK     (1 << 14)

/* Make one of several changes, and undo it. */
static int interfere(struct actor *a, struct arena *arena)
{
    const int64_t n = 1 + next(&a->seed) % 4, most = arena->kind->most;
    int result;

    if (arena->kind->attr.capacity != 0 && next(&a->seed) % 2 == 0) {
        result = fairsem_set_capacity(&arena->sem, next(&a->seed) % (uint32_t)(most + 1));
        moments(&a->seed);
        return result | fairsem_set_capacity(&arena->sem, arena->kind->units);
    }
    result = fairsem_consume(&arena->sem, n);
    moments(&a->seed);
    return result | fairsem_release(&arena->sem, n);
}

/* Returns an error text, or NULL.  max_waiters may refuse this acquire, as those of other threads. */
static const char *count(struct round *r, struct arena *arena)
{
    const char *wrong = NULL;
    fairsem_stat_t stat;

    while (fairsem_acquire(&arena->sem, arena->kind->units) != 0) {
        if (is_over(r))
            return NULL;
    }
    fairsem_stat(&arena->sem, &stat);
    if (stat.available != 0)
        wrong = "there are too many units";
    else if (atomic_load(&arena->held) != 0)
        wrong = "a thread holds units although the warden has them all";
    else if (stat.over_releases != 0)
        wrong = "a release was refused";
    else if (stat.waits != stat.waiters + stat.grants + stat.timeouts + stat.cancels)
        wrong = "the statistics do not add up";
    fairsem_release(&arena->sem, arena->kind->units);
    atomic_fetch_add(&r->checks, 1);
    return wrong;
}

/* Commit the fault of the command line, each time before the units are counted. */
static void commit(struct round *r, fairsem_t *plain)
{
    void *memory;

    switch (r->fault) {
    case FAULT_LOST:
        fairsem_consume(plain, 1);
        break;
    case FAULT_MADE:
        fairsem_release(plain, 1);
        break;
    case FAULT_LEAK:
        memory = malloc(LEAK);
        if (memory != NULL)
            memset(memory, 1, LEAK);
        atomic_store(&r->leaked, memory);
        break;
    default:
        break;
    }
}

void guard(struct actor *a)
{
    struct round *r = a->round;
    struct arena *arena = &r->arenas[a->place];

    while (!is_over(r)) {
        const char *wrong;

        if (interfere(a, arena) != 0)
            complain(r, "%s: the warden's own acts fail", arena->kind->name);
        rest(r, PAUSE_NS);
        if (next(&a->seed) % 8 != 0)
            continue;
        if (arena == &r->arenas[1])
            commit(r, &arena->sem);
        wrong = count(r, arena);
        if (wrong != NULL)
            complain(r, "%s: %s", arena->kind->name, wrong);
        beat(a);
    }
}
