/* SPDX-License-Identifier: MIT */
/*
 * arena.h - a semaphore under test, and the accounts that are kept beside it.
 *
 * CONSERVATION is checked without stopping any thread: a plain acquire takes all units.  It waits
 * in the queue like all others.  When it returns, all holders have released their units.  Then no
 * unit is available, and none is held by the holders' own count; a unit too many shows in one of
 * these.  If a unit was lost, the acquire does not return, and the watchdog reports that.
 */
#ifndef ARENA_H
#define ARENA_H

#include "suite.h"

#include "parking.h"

#include <fairsem.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ARENAS 4

/* ThreadSanitizer loses track of threads that are canceled on a futex. */
#define FUTEXES (FS_HAS_FUTEX && !UNDER_TSAN)

struct arena {
    fairsem_t       sem;
    const char     *name;
    int64_t         units;          /* in all */
    int64_t         most;           /* may be in use while capacities change */
    bool            bounded, interruptible;
    _Atomic int64_t held;           /* as the holders count */
};

/* The arenas differ: one unit or many, bounded or not, and in how threads sleep. */
void arenas_init(struct arena arenas[ARENAS]);

/* The caller has just got n units, or is about to release them.  false: more than there are. */
bool arena_pick_up(struct arena *arena, int64_t n);
void arena_put_down(struct arena *arena, int64_t n);

/* Waits until all units are back.  Returns NULL, or what is wrong with the count. */
const char *arena_check(struct arena *arena);

/* No thread uses it any more: check it once more, and destroy it. */
const char *arena_end(struct arena *arena);

#endif
