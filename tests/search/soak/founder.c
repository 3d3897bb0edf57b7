/* SPDX-License-Identifier: MIT */
/*
 * founder.c - semaphores that live for a moment, in memory from malloc: closed while in use and
 * initialized again, and destroyed and freed right after an acquire.
 */
#include "soak.h"

#include <stdlib.h>
#include <string.h>

#define GUESTS 4
#define UNITS  2
#define POISON 0xA5

struct house {
    fairsem_t       sem;
    struct actor   *founder;
    _Atomic int64_t held;
};

/* Acquire and release until the house is closed. */
static void *visit(void *arg)
{
    struct house *house = arg;
    int result;

    while ((result = fairsem_acquire(&house->sem, 1)) == 0) {
        if (atomic_fetch_add(&house->held, 1) >= UNITS)
            complain(house->founder->soak, "a house has more guests than units");
        atomic_fetch_sub(&house->held, 1);
        fairsem_release(&house->sem, 1);
    }
    if (result != CLOSED_BY_FOUNDER)
        complain(house->founder->soak, "a house: unexpected result %d", result);
    return NULL;
}

static void live(struct actor *a, struct house *house)
{
    fairsem_attr_t attr = { .capacity = next(&a->seed) % 2 == 0 ? UNITS : 0 };
    pthread_t guests[GUESTS];

    if (FUTEXES && next(&a->seed) % 2 == 0)
        attr.flags = FAIRSEM_INTERRUPTIBLE;
    insist(0, fairsem_init(&house->sem, UNITS, &attr));
    for (int i = 0; i < GUESTS; i++)
        start_thread(&guests[i], visit, house);
    for (uint32_t i = next(&a->seed) % 500; i > 0; i--)
        moment();
    if (fairsem_close(&house->sem, CLOSED_BY_FOUNDER) != 0 || fairsem_waiters(&house->sem) != 0)
        complain(a->soak, "a house cannot be closed");
    for (int i = 0; i < GUESTS; i++)
        pthread_join(guests[i], NULL);
    if (fairsem_available(&house->sem) != UNITS || house->held != 0)
        complain(a->soak, "a house has %lld units of %d when all have left",
                 (long long)fairsem_available(&house->sem), UNITS);
    if (fairsem_destroy(&house->sem) != 0)
        complain(a->soak, "a house cannot be destroyed");
    atomic_fetch_add(&a->soak->semaphores, 1);
    atomic_fetch_add(&a->soak->threads, GUESTS);
}

/* The same memory twice: close, destroy, init again. */
static void found_a_house(struct actor *a)
{
    struct house *house = calloc(1, sizeof *house);

    if (house == NULL)
        return;
    house->founder = a;
    live(a, house);
    live(a, house);
    free(house);
}

static void *release_one(void *arg)
{
    fairsem_release(arg, 1);
    return NULL;
}

/*
 * Acquire, destroy, and reuse the memory while the release that granted the units may still be
 * running: it must not access that memory again.
 */
static void acquire_and_destroy(struct actor *a)
{
    fairsem_attr_t attr = { .flags = FUTEXES && next(&a->seed) % 2 == 0
                                         ? FAIRSEM_INTERRUPTIBLE : 0 };
    unsigned char *memory = malloc(sizeof(fairsem_t));
    fairsem_t *sem = (fairsem_t *)(void *)memory;
    bool at_once = next(&a->seed) % 2 == 0;
    pthread_t releaser;

    if (memory == NULL)
        return;
    insist(0, fairsem_init(sem, 0, &attr));
    start_thread(&releaser, release_one, sem);
    if (fairsem_acquire(sem, 1) != 0 || fairsem_destroy(sem) != 0)
        complain(a->soak, "cannot destroy after an acquire");
    memset(memory, POISON, sizeof(fairsem_t));
    if (at_once)
        free(memory);
    pthread_join(releaser, NULL);
    for (size_t i = 0; !at_once && i < sizeof(fairsem_t); i++) {
        if (memory[i] != POISON)
            complain(a->soak, "a release touched a destroyed semaphore, byte %d", (int)i);
    }
    if (!at_once)
        free(memory);
    atomic_fetch_add(&a->soak->semaphores, 1);
    atomic_fetch_add(&a->soak->threads, 1);
}

void found(struct actor *a)
{
    while (!is_over(a->soak)) {
        if (next(&a->seed) % 2 == 0)
            found_a_house(a);
        else
            acquire_and_destroy(a);
        beat(a);
    }
}
