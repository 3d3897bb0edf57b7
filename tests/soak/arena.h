/* SPDX-License-Identifier: MIT */
/*
 * arena.h - a semaphore under test, and the accounts that are kept beside it.
 *
 * CONSERVATION is checked without stopping any thread: take all the units there are with a plain
 * acquire.  It queues like all others, and the queue waits behind it; when it returns, all that
 * held units have released them.  Then nothing is available, and nobody holds
 * anything by the holders' own count.  A unit that was made shows in one of these.  A unit
 * that was lost keeps the acquire from returning, and the watchdog speaks.
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
    int64_t         units;          /* there are */
    int64_t         most;           /* that may be in use while capacities change */
    bool            bounded, interruptible;
    _Atomic int64_t held;           /* as the holders count */
};

/* The arenas differ in what they are: one unit or many, bounded or not, what sleeps are. */
void arenas_init(struct arena arenas[ARENAS]);

/* The caller has just got n units, or is about to release them.  false: more than there are. */
bool arena_pick_up(struct arena *arena, int64_t n);
void arena_put_down(struct arena *arena, int64_t n);

/* Returns NULL, or what is wrong with the count.  Waits until all units are back. */
const char *arena_check(struct arena *arena);

/* Nobody uses it any more: check it once more, and destroy it. */
const char *arena_end(struct arena *arena);

#endif
