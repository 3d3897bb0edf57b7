/* SPDX-License-Identifier: MIT */
/* arena.c - see arena.h. */
#include "arena.h"

#include "workers.h"

#include <stddef.h>

void arenas_init(struct arena arenas[ARENAS])
{
    const unsigned signals = FUTEXES ? FAIRSEM_INTERRUPTIBLE : 0;
    const struct arena kinds[ARENAS] = {
        { .name = "one",       .units = 1, .most = 1, .bounded = true },
        { .name = "six",       .units = 6, .most = 8, .bounded = true },
        { .name = "signals",   .units = 4, .most = 6, .bounded = true,
          .interruptible = signals != 0 },
        { .name = "unbounded", .units = 3, .most = 3 },
    };

    for (int i = 0; i < ARENAS; i++) {
        struct arena *arena = &arenas[i];
        fairsem_attr_t attr = { .name = kinds[i].name };

        *arena = kinds[i];
        attr.capacity = arena->bounded ? arena->units : 0;
        attr.max_waiters = arena->bounded && arena->units > 4 ? 8 : 0;
        attr.flags = arena->interruptible ? signals : 0;
        insist(0, fairsem_init(&arena->sem, arena->units, &attr));
    }
}

bool arena_pick_up(struct arena *arena, int64_t n)
{
    return atomic_fetch_add(&arena->held, n) + n <= arena->most;
}

void arena_put_down(struct arena *arena, int64_t n)
{
    atomic_fetch_sub(&arena->held, n);
}

/* The caller holds all units. */
static const char *inspect(struct arena *arena)
{
    fairsem_stat_t stat;

    fairsem_stat(&arena->sem, &stat);
    if (stat.available != 0)
        return "there are too many units";
    if (atomic_load(&arena->held) != 0)
        return "a thread holds units although the checker has them all";
    if (stat.over_releases != 0)
        return "a release was refused";
    if (stat.waits != stat.waiters + stat.grants + stat.timeouts + stat.cancels)
        return "the statistics do not add up";
    return NULL;
}

/* max_waiters may refuse this acquire, and a signal may end it, as for any other thread. */
const char *arena_check(struct arena *arena)
{
    const char *wrong;

    while (fairsem_acquire(&arena->sem, arena->units) != 0)
        continue;
    wrong = inspect(arena);
    fairsem_release(&arena->sem, arena->units);
    return wrong;
}

const char *arena_end(struct arena *arena)
{
    const char *wrong = arena_check(arena);

    if (wrong != NULL)
        return wrong;
    if (fairsem_waiters(&arena->sem) != 0 || fairsem_available(&arena->sem) != arena->units)
        return "not as it was at the beginning";
    return fairsem_destroy(&arena->sem) == 0 ? NULL : "cannot be destroyed";
}
