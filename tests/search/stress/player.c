/* SPDX-License-Identifier: MIT */
/*
 * player.c - a thread that takes units in each possible way, holds and releases them.
 *
 * A player does not wait for units of one arena while it holds units of another, because two players could
 * deadlock.  It may try.
 */
#include "actors.h"


#include <errno.h>
#include <limits.h>

/* Count a result, and complain about one that is impossible in this arena.  Did the call succeed? */
static bool succeeded(struct actor *a, struct arena *arena, int result)
{
    struct round *r = a->round;
    const fairsem_attr_t *attr = &arena->kind->attr;
    bool may_be = false;

    switch (result) {
    case 0:
        return true;
    case ETIMEDOUT:
    case EAGAIN:
    case CANCELED_BY_TOKEN:
        may_be = true;
        break;
    case ENOBUFS:
        may_be = attr->max_waiters != 0;
        break;
    case E2BIG:
        may_be = attr->capacity != 0;
        break;
    case EINTR:
        may_be = arena->interruptible;
        atomic_fetch_add(&r->interrupted, 1);
        break;
    case CLOSED:
        may_be = is_over(r);
        break;
    }
    if (!may_be)
        complain(r, "a player: unexpected result %d", result);
    return false;
}

/* Release the units in one part or in two, with or without a second guard. */
static int put_back(fairsem_t *sem, fairsem_units_t *units, uint32_t *seed)
{
    fairsem_units_t part = { 0 };
    int result = 0;

    switch (next(seed) % 4) {
    case 0:
        result = fairsem_units_split(units, units->n / 2, &part);
        result |= fairsem_units_release(&part);
        break;
    case 1:
        result = fairsem_units_return(units, units->n / 2);
        break;
    case 2:
        return fairsem_release(sem, fairsem_units_forget(units));
    }
    return result | fairsem_units_release(units);
}

static void hold_and_release(struct actor *a, struct arena *arena, fairsem_units_t *units)
{
    struct round *r = a->round;
    int result;

    pick_up(arena, units->n);
    atomic_fetch_add_explicit(&r->acquired, 1, memory_order_relaxed);
    if (next(&a->seed) % 4 == 0)
        moment();
    if (next(&a->seed) % 64 == 0)       /* so that others must wait, and sleep */
        moment_sleep();
    if (next(&a->seed) % 8 == 0) {      /* try an arena while holding units */
        struct arena *other = &r->arenas[next(&a->seed) % 2];

        if (fairsem_tryacquire(&other->sem, 1) == 0)
            fairsem_release(&other->sem, 1);
    }
    put_down(arena, units->n);
    result = put_back(&arena->sem, units, &a->seed);
    if (result != 0)
        complain(r, "a release failed: %d", result);
}

/* Initialize a canceled token again. */
static void renew_token(struct actor *a)
{
    pthread_mutex_lock(&a->token_mutex);
    if (fairsem_token_reason(&a->token) != 0
        && (fairsem_token_destroy(&a->token) != 0 || fairsem_token_init(&a->token) != 0))
        complain(a->round, "a player's token is in use");
    pthread_mutex_unlock(&a->token_mutex);
}

static void cancel_a_token(struct actor *a)
{
    struct round *r = a->round;
    struct actor *victim = &r->actors[next(&a->seed) % (uint32_t)r->arenas[0].kind->players];
    int result;

    pthread_mutex_lock(&victim->token_mutex);
    result = fairsem_token_cancel(&victim->token, CANCELED_BY_TOKEN);
    pthread_mutex_unlock(&victim->token_mutex);
    if (result != 0 && result != EALREADY)
        complain(r, "a token cannot be canceled: %d", result);
}

static void try(struct actor *a, struct arena *arena, int64_t n)
{
    fairsem_units_t units = { 0 };
    int result;

    switch (next(&a->seed) % 3) {
    case 0:
        result = fairsem_units_tryacquire(&units, &arena->sem, n);
        break;
    case 1:
        result = fairsem_tryacquire(&arena->sem, n);
        break;
    default:
        n = fairsem_tryacquire_upto(&arena->sem, n);
        result = n > 0 ? 0 : EAGAIN;
    }
    if (!succeeded(a, arena, result))
        return;
    units = (fairsem_units_t){ 0 };
    insist(0, fairsem_units_adopt(&units, &arena->sem, n));
    hold_and_release(a, arena, &units);
}

static void acquire(struct actor *a, struct arena *arena, int64_t n)
{
    const int64_t patience_ns = next(&a->seed) % 200 * 1000;
    const clockid_t clock = next(&a->seed) % 2 == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    const struct timespec deadline = from_now(clock, next(&a->seed) % 4);
    fairsem_wait_t how = { .clock = clock };
    fairsem_units_t units = { 0 };
    int result;

    switch (next(&a->seed) % 8) {
    case 0:
        result = fairsem_acquire_for(&arena->sem, n, patience_ns);
        break;
    case 1:
        result = fairsem_acquire_until(&arena->sem, n, clock, &deadline);
        break;
    case 2:
    case 3:
        result = fairsem_acquire(&arena->sem, n);
        break;
    default:
        how.priority = (int)(next(&a->seed) % (uint32_t)arena->kind->priorities);
        how.deadline = next(&a->seed) % 2 == 0 ? &deadline : NULL;
        how.token = next(&a->seed) % 2 == 0 ? &a->token : NULL;
        result = fairsem_units_acquire(&units, &arena->sem, n, &how);
    }
    if (succeeded(a, arena, result)) {
        if (units.n == 0)
            insist(0, fairsem_units_adopt(&units, &arena->sem, n));
        hold_and_release(a, arena, &units);
    }
    renew_token(a);
}

/* The callback: claim the granted units, and release them to the same queue. */
static void granted(fairsem_ticket_t *ticket, void *arg)
{
    struct actor *a = arg;
    fairsem_units_t units = { 0 };
    uint32_t seed = (uint32_t)atomic_fetch_add(&a->round->called_back, 1);
    int result = fairsem_ticket_claim(ticket, &units);

    if (result == 0) {
        struct arena *arena = &a->round->arenas[units.sem != &a->round->arenas[0].sem];

        pick_up(arena, units.n);
        put_down(arena, units.n);
        insist(0, put_back(&arena->sem, &units, &seed));
    } else if (result != EINVAL) {      /* EINVAL if the player was faster */
        fairsem_ticket_return(ticket);
    }
}

/* The callback, in another thread, may claim the ticket first, which gives EINVAL or ECANCELED here. */
static void take_a_ticket(struct actor *a, struct arena *arena, int64_t n)
{
    const struct timespec deadline = from_now(CLOCK_MONOTONIC, next(&a->seed) % 4);
    fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .token = &a->token };
    fairsem_ticket_t ticket = { 0 };
    fairsem_units_t units = { 0 };
    const bool calls_back = next(&a->seed) % 2 == 0;
    const int priority = (int)(next(&a->seed) % (uint32_t)arena->kind->priorities);
    int result = fairsem_ticket_take(&ticket, &arena->sem, n, priority,
                                     calls_back ? granted : NULL, a);

    if (result != EINPROGRESS && !succeeded(a, arena, result))
        return;
    if (next(&a->seed) % 4 != 0) {
        /* Half of them without a deadline, so that some are granted even on a slow machine. */
        how.deadline = next(&a->seed) % 2 == 0 ? &deadline : NULL;
        result = fairsem_ticket_wait(&ticket, &how);
        if (!calls_back || (result != EINVAL && result != ECANCELED))
            succeeded(a, arena, result);
    }
    result = fairsem_ticket_claim(&ticket, &units);
    if (!(calls_back && result == EINVAL) && succeeded(a, arena, result))
        hold_and_release(a, arena, &units);
    fairsem_ticket_return(&ticket);
    renew_token(a);
}

/* Play mostly in the arena of this round. */
void play(struct actor *a)
{
    while (!is_over(a->round)) {
        struct arena *arena = &a->round->arenas[next(&a->seed) % 8 == 0];
        int64_t n = next(&a->seed) % (uint32_t)(arena->kind->units + 1);

        switch (next(&a->seed) % 8) {
        case 0:
            try(a, arena, n);
            break;
        case 1:
        case 2:
            take_a_ticket(a, arena, n);
            break;
        case 3:
            cancel_a_token(a);
            break;
        default:
            acquire(a, arena, n);
        }
        beat(a);
    }
}
