/* SPDX-License-Identifier: MIT */
/*
 * founder.c - semaphores that exist for a moment, in memory from malloc: closed while in use and initialized again;
 * destroyed and freed right after an acquire; and used by threads that end as soon as they are granted.
 */
#include "actors.h"

#include <stdlib.h>
#include <string.h>

#define GUESTS 4
#define UNITS  2
#define CROWD  20
#define POISON 0xA5

static fairsem_attr_t some_attr(struct actor *a)
{
    return (fairsem_attr_t){
        .capacity = next(&a->seed) % 2 == 0 ? UNITS : 0,
        .flags = FUTEXES && next(&a->seed) % 2 == 0 ? FAIRSEM_INTERRUPTIBLE : 0,
    };
}

/* ---- A house: a semaphore that is closed while its guests use it ---- */

struct house {
    fairsem_t       sem;
    struct round   *round;
    _Atomic int64_t held;
};

/* Acquire and release until the house is closed. */
static void *visit(void *arg)
{
    struct house *house = arg;
    int result;

    while ((result = fairsem_acquire(&house->sem, 1)) == 0) {
        if (atomic_fetch_add(&house->held, 1) >= UNITS)
            complain(house->round, "a house has more guests than units");
        atomic_fetch_sub(&house->held, 1);
        fairsem_release(&house->sem, 1);
    }
    if (result != CLOSED)
        complain(house->round, "a house: unexpected result %d", result);
    return NULL;
}

static void live(struct actor *a, struct house *house)
{
    const fairsem_attr_t attr = some_attr(a);
    pthread_t guests[GUESTS];

    insist(0, fairsem_init(&house->sem, UNITS, &attr));
    for (int i = 0; i < GUESTS; i++)
        start_thread(&guests[i], visit, house);
    moments(&a->seed);
    if (fairsem_close(&house->sem, CLOSED) != 0 || fairsem_waiters(&house->sem) != 0)
        complain(a->round, "a house cannot be closed");
    for (int i = 0; i < GUESTS; i++)
        pthread_join(guests[i], NULL);
    if (fairsem_available(&house->sem) != UNITS || house->held != 0)
        complain(a->round, "a house has %lld units of %d when all have left",
                 (long long)fairsem_available(&house->sem), UNITS);
    if (fairsem_destroy(&house->sem) != 0)
        complain(a->round, "a house cannot be destroyed");
}

/* Use the same memory twice: close, destroy, initialize again. */
static void found_a_house(struct actor *a)
{
    struct house *house = calloc(1, sizeof *house);

    if (house == NULL)
        return;
    house->round = a->round;
    live(a, house);
    live(a, house);
    free(house);
}

/* ---- Destroyed right after an acquire ---- */

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
    const fairsem_attr_t attr = some_attr(a);
    unsigned char *memory = malloc(sizeof(fairsem_t));
    fairsem_t *sem = (fairsem_t *)(void *)memory;
    bool at_once = next(&a->seed) % 2 == 0;
    pthread_t releaser;

    if (memory == NULL)
        return;
    insist(0, fairsem_init(sem, 0, &attr));
    start_thread(&releaser, release_one, sem);
    if (fairsem_acquire(sem, 1) != 0 || fairsem_destroy(sem) != 0)
        complain(a->round, "cannot destroy after an acquire");
    memset(memory, POISON, sizeof(fairsem_t));
    if (at_once)
        free(memory);
    pthread_join(releaser, NULL);
    for (size_t i = 0; !at_once && i < sizeof(fairsem_t); i++) {
        if (memory[i] != POISON)
            complain(a->round, "a release touched a destroyed semaphore, byte %d", (int)i);
    }
    if (!at_once)
        free(memory);
}

/* ---- A crowd that ends when it is granted ---- */

static void *exit_when_granted(void *arg)
{
    insist(0, fairsem_acquire(arg, 1));
    pthread_exit(NULL);
}

/*
 * A thread ends as soon as it is granted, while the release that woke it still runs.  Its parker goes to a thread
 * that starts at the same time, which the same release may have to wake.
 */
static void found_a_crowd(struct actor *a)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    const int release_at = (int)(next(&a->seed) % CROWD);
    pthread_t thread[2][CROWD];

    for (int i = 0; i < CROWD; i++)
        start_thread(&thread[0][i], exit_when_granted, &sem);
    await_waiters(&sem, CROWD);     /* the first crowd is in front */
    for (int i = 0; i < CROWD; i++) {
        if (i == release_at)
            insist(0, fairsem_release(&sem, CROWD));
        start_thread(&thread[1][i], exit_when_granted, &sem);
    }
    for (int i = 0; i < CROWD; i++)
        pthread_join(thread[0][i], NULL);
    insist(0, fairsem_release(&sem, CROWD));
    for (int i = 0; i < CROWD; i++)
        pthread_join(thread[1][i], NULL);
    if (fairsem_available(&sem) != 0 || fairsem_destroy(&sem) != 0)
        complain(a->round, "a crowd has left units, or waiters");
}

void found(struct actor *a)
{
    static void (*const foundings[])(struct actor *) = {
        found_a_house, acquire_and_destroy, found_a_crowd
    };

    while (!is_over(a->round)) {
        foundings[next(&a->seed) % 3](a);
        beat(a);
    }
}
