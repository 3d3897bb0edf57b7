/* SPDX-License-Identifier: MIT */
/*
 * heads.h - heads of the queue that are granted soon or late: were they awake for their grant?
 *
 * A unit that is released SOON finds the head awake; one that is released LATE finds it asleep.  A
 * second waiter waits behind a ticket, and may be woken early when the ticket is granted.
 */
#ifndef HEADS_H
#define HEADS_H

#include "clockwork.h"

#define WAKE_UP 16384
#define LOOK    (WAKE_UP / 16)
#define SOON    (WAKE_UP / 2)
#define LATE    (WAKE_UP * 10)
/* For a waiter that is woken early: the time of its wake-up plus less than half, or much more. */
#define SOON_AFTER_EARLY_WAKE (WAKE_UP + WAKE_UP / 4)
#define LATE_AFTER_EARLY_WAKE (WAKE_UP * 10)

static inline void begin(void)
{
    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
}

/* Was it awake when its unit came? */
static inline bool awake_as_head(fairsem_t *sem, int64_t after)
{
    wait_for(sem, after);
    return !world.seen[0].asleep;
}

/* Did it stay awake at all?  Its unit comes late. */
static inline bool tries_as_head(fairsem_t *sem)
{
    wait_for(sem, LATE);
    ck_assert(world.seen[0].asleep);
    return world.seen[0].awake != 0;
}

static inline bool awake_as_second(fairsem_t *sem, int64_t after)
{
    wait_as_second(sem, LATE, after);
    return !world.seen[1].asleep;
}

/* Was it woken early, when the ticket before it was granted?  Its own unit comes late. */
static inline bool woken_early_as_second(fairsem_t *sem)
{
    wait_as_second(sem, LATE, LATE_AFTER_EARLY_WAKE);
    ck_assert(world.seen[1].asleep);
    return world.seen[1].wakes != 0;
}

/* How many of so many waits stay awake, or are woken early, although it does not pay? */
static inline int tries(fairsem_t *sem, bool (*try_it)(fairsem_t *), int waits)
{
    int n = 0;

    for (int i = 0; i < waits; i++)
        n += try_it(sem);
    return n;
}

/* How many waits does it take until one is awake for a grant that comes soon? */
static inline int until_awake(fairsem_t *sem, bool (*awake)(fairsem_t *, int64_t), int64_t soon)
{
    int n = 1;

    while (!awake(sem, soon) && n < 100000)
        n++;
    return n;
}

static inline void assert_awake(fairsem_t *sem, bool (*awake)(fairsem_t *, int64_t), int64_t soon,
                                int times)
{
    for (int i = 0; i < times; i++)
        ck_assert(awake(sem, soon));
}

#endif
