/* SPDX-License-Identifier: MIT */
/*
 * player.c - a thread that takes units in every possible way, holds and releases them.
 *
 * A player does not wait for units of one arena while it holds those of another, because two could
 * wait for each other.  It may try.
 */
#include "soak.h"

#include <errno.h>

/* Counts a result, and complains of one that this arena must not give. */
static bool succeeded(struct actor *a, struct arena *arena, int result)
{
    struct soak *s = a->soak;

    switch (result) {
    case 0:
        return true;
    case ETIMEDOUT:
        atomic_fetch_add(&s->timed_out, 1);
        return false;
    case EAGAIN:
        atomic_fetch_add(&s->refused, 1);
        return false;
    case CANCELED_BY_TOKEN:
        atomic_fetch_add(&s->canceled, 1);
        return false;
    case ENOBUFS:
    case E2BIG:
        if (arena->bounded)
            return false;
        break;
    case EINTR:
        atomic_fetch_add(&s->interrupted, 1);
        if (arena->interruptible)
            return false;
        break;
    }
    complain(s, "%s at %s: unexpected result %d", a->name, arena->name, result);
    return false;
}

static void waited(struct actor *a, int64_t since)
{
    int64_t ns = now_ns() - since;

    if (ns > atomic_load_explicit(&a->longest_ns, memory_order_relaxed))
        atomic_store_explicit(&a->longest_ns, ns, memory_order_relaxed);
}

/* In two parts through a second guard, now and then. */
static void hold_and_release(struct actor *a, struct arena *arena, fairsem_units_t *units)
{
    fairsem_units_t part = { 0 };
    int result = 0;

    if (!arena_pick_up(arena, units->n))
        complain(a->soak, "%s: more units are held than there are", arena->name);
    atomic_fetch_add(&a->soak->acquired, 1);
    if (next(&a->seed) % 4 == 0)
        moment();
    if (next(&a->seed) % 8 == 0) {      /* while it holds units: try another arena */
        struct arena *other = any_arena(a);

        if (fairsem_tryacquire(&other->sem, 1) == 0)
            fairsem_release(&other->sem, 1);
    }
    arena_put_down(arena, units->n);
    switch (next(&a->seed) % 3) {
    case 0:
        result = fairsem_units_split(units, units->n / 2, &part);
        result |= fairsem_units_release(&part);
        break;
    case 1:
        result = fairsem_units_return(units, units->n / 2);
        break;
    }
    result |= fairsem_units_release(units);
    if (result != 0)
        complain(a->soak, "%s: a release failed: %d", arena->name, result);
}

/* Initialize a canceled token again. */
static void renew_token(struct actor *a)
{
    pthread_mutex_lock(&a->token_mutex);
    if (fairsem_token_reason(&a->token) != 0
        && (fairsem_token_destroy(&a->token) != 0 || fairsem_token_init(&a->token) != 0))
        complain(a->soak, "%s: its token is in use", a->name);
    pthread_mutex_unlock(&a->token_mutex);
}

static void cancel_a_token(struct actor *a)
{
    struct actor *victim = &a->soak->actors[next(&a->seed) % PLAYERS];

    pthread_mutex_lock(&victim->token_mutex);
    fairsem_token_cancel(&victim->token, CANCELED_BY_TOKEN);
    pthread_mutex_unlock(&victim->token_mutex);
}

static void try(struct actor *a, struct arena *arena, int64_t n)
{
    fairsem_units_t units = { 0 };

    if (next(&a->seed) % 2 == 0) {
        if (!succeeded(a, arena, fairsem_units_tryacquire(&units, &arena->sem, n)))
            return;
    } else if (!succeeded(a, arena, fairsem_units_adopt(&units, &arena->sem,
                                                        fairsem_tryacquire_upto(&arena->sem, n)))) {
        return;
    }
    hold_and_release(a, arena, &units);
}

static void acquire(struct actor *a, struct arena *arena, int64_t n)
{
    bool realtime = next(&a->seed) % 2 == 0;
    struct timespec deadline = from_now(realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC,
                                        next(&a->seed) % 4);
    fairsem_wait_t how = { .clock = realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC,
                           .priority = (int)(next(&a->seed) % 3) };
    fairsem_units_t units = { 0 };
    int64_t since = now_ns();
    bool got;

    if (next(&a->seed) % 2 == 0)
        how.deadline = &deadline;
    if (next(&a->seed) % 2 == 0)
        how.token = &a->token;
    got = succeeded(a, arena, fairsem_units_acquire(&units, &arena->sem, n, &how));
    waited(a, since);
    if (got)
        hold_and_release(a, arena, &units);
    renew_token(a);
}

/* Claims the granted units and releases them to the same queue, in the callback. */
static void granted(fairsem_ticket_t *ticket, void *arg)
{
    struct actor *a = arg;
    fairsem_units_t units = { 0 };

    atomic_fetch_add(&a->soak->called_back, 1);
    if (fairsem_ticket_claim(ticket, &units) == 0)
        fairsem_units_release(&units);
}

/* The callback, in another thread, may have claimed it before we do: EINVAL or ECANCELED. */
static void take_a_ticket(struct actor *a, struct arena *arena, int64_t n)
{
    struct timespec deadline = from_now(CLOCK_MONOTONIC, next(&a->seed) % 4);
    fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .deadline = &deadline,
                           .token = &a->token };
    fairsem_ticket_t ticket = { 0 };
    fairsem_units_t units = { 0 };
    bool calls_back = next(&a->seed) % 2 == 0;
    int64_t since = now_ns();
    int taken = fairsem_ticket_take(&ticket, &arena->sem, n, (int)(next(&a->seed) % 3),
                                    calls_back ? granted : NULL, a);

    if (taken != EINPROGRESS && !succeeded(a, arena, taken))
        return;
    if (next(&a->seed) % 4 != 0) {
        int result = fairsem_ticket_wait(&ticket, &how);

        if (!calls_back || (result != EINVAL && result != ECANCELED))
            succeeded(a, arena, result);
        waited(a, since);
    }
    if (fairsem_ticket_claim(&ticket, &units) == 0)
        hold_and_release(a, arena, &units);
    fairsem_ticket_return(&ticket);
    renew_token(a);
}

void act_once(struct actor *a, struct arena *arena)
{
    int64_t n = next(&a->seed) % (uint32_t)(arena->units + 1);

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
}

void play(struct actor *a)
{
    while (!is_over(a->soak)) {
        act_once(a, any_arena(a));
        beat(a);
    }
}
