/* SPDX-License-Identifier: MIT */
/*
 * t_mixed_stress.c - all operations at once on one semaphore: priorities, tokens, guards,
 * tickets with and without callbacks, canceled threads, debts, and a capacity that changes
 * and is sometimes 0.  No unit may be lost or made, and no thread may hang.
 */
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <stdio.h>

#define CAPACITY 6      /* at the beginning and at the end */
#define MOST     8      /* the largest capacity in between */
#define PLAYERS  8
#define REASON   4711   /* of tokens */
#define CLOSED   815
#define INTERFERENCES 1000      /* in each test */

struct ground {
    fairsem_t       sem;
    _Atomic int64_t held;           /* as the holders count it, not the semaphore */
    _Atomic int64_t most_held;
    _Atomic int     stop;
    _Atomic int64_t acquired, called_back, failed, prey_left;
    _Atomic int     unexpected;     /* a result that the call must not return */
};

struct player {
    pthread_t       thread;
    struct ground  *ground;
    uint32_t        seed;
    pthread_mutex_t token_mutex;    /* keeps a cancel and a renewal of the token apart */
    fairsem_token_t token;
};

static void pick_up(struct ground *g, int64_t n)
{
    int64_t held = atomic_fetch_add(&g->held, n) + n;
    int64_t most = atomic_load(&g->most_held);

    while (held > most && !atomic_compare_exchange_weak(&g->most_held, &most, held))
        continue;
    atomic_fetch_add(&g->acquired, 1);
}

/* Sometimes in two parts, with or without a second guard. */
static void put_down(struct ground *g, fairsem_units_t *units, uint32_t *seed)
{
    fairsem_units_t part = { 0 };
    int result = 0;

    if (next(seed) % 4 == 0)
        moment();
    atomic_fetch_sub(&g->held, units->n);
    switch (next(seed) % 3) {
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
        atomic_store(&g->unexpected, result);
}

static bool expected(struct ground *g, int result)
{
    static const int may_be[] = { EAGAIN, ETIMEDOUT, E2BIG, ENOBUFS, REASON, CLOSED };

    if (result == 0)
        return true;
    atomic_fetch_add(&g->failed, 1);
    for (size_t i = 0; i < sizeof may_be / sizeof may_be[0]; i++) {
        if (result == may_be[i])
            return false;
    }
    atomic_store(&g->unexpected, result);
    return false;
}

/* A canceled token is destroyed and initialized again. */
static void renew_token(struct player *p)
{
    pthread_mutex_lock(&p->token_mutex);
    if (fairsem_token_reason(&p->token) != 0
        && (fairsem_token_destroy(&p->token) != 0 || fairsem_token_init(&p->token) != 0))
        atomic_store(&p->ground->unexpected, EBUSY);
    pthread_mutex_unlock(&p->token_mutex);
}

static void acquire_somehow(struct player *p, int64_t n, struct timespec *deadline)
{
    struct ground *g = p->ground;
    fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .priority = (int)(next(&p->seed) % 3),
                           .token = &p->token };
    fairsem_units_t units = { 0 };

    if (next(&p->seed) % 2 == 0)
        how.deadline = deadline;
    if (expected(g, fairsem_units_acquire(&units, &g->sem, n, &how))) {
        pick_up(g, n);
        put_down(g, &units, &p->seed);
    }
    renew_token(p);
}

static void try_somehow(struct player *p, int64_t n)
{
    struct ground *g = p->ground;
    fairsem_units_t units = { 0 };

    if (next(&p->seed) % 2 == 0) {
        if (!expected(g, fairsem_units_tryacquire(&units, &g->sem, n)))
            return;
    } else if (!expected(g, fairsem_units_adopt(&units, &g->sem,
                                                fairsem_tryacquire_upto(&g->sem, n)))) {
        return;
    }
    pick_up(g, units.n);
    put_down(g, &units, &p->seed);
}

/* A callback that claims the units and releases them, to the same queue. */
static void granted(fairsem_ticket_t *ticket, void *arg)
{
    struct ground *g = arg;
    fairsem_units_t units = { 0 };
    uint32_t seed = (uint32_t)atomic_fetch_add(&g->called_back, 1);
    int result = fairsem_ticket_claim(ticket, &units);

    if (result == 0) {
        pick_up(g, units.n);
        put_down(g, &units, &seed);
    } else if (result != EINVAL) {      /* EINVAL: its player was faster */
        expected(g, result);
        fairsem_ticket_return(ticket);
    }
}

static void wait_with_a_ticket(struct player *p, int64_t n, struct timespec *deadline)
{
    struct ground *g = p->ground;
    fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .deadline = deadline, .token = &p->token };
    fairsem_ticket_t ticket = { 0 };
    fairsem_units_t units = { 0 };
    bool calls_back = next(&p->seed) % 2 == 0;
    int priority = (int)(next(&p->seed) % 3), result;

    result = fairsem_ticket_take(&ticket, &g->sem, n, priority, calls_back ? granted : NULL, g);
    if (result != EINPROGRESS && !expected(g, result))
        return;
    if (next(&p->seed) % 4 != 0) {
        /* On a slow machine, too, some must be granted while they wait. */
        if (next(&p->seed) % 2 == 0)
            how.deadline = NULL;
        result = fairsem_ticket_wait(&ticket, &how);
        /* The callback may have claimed it before the wait began or ended. */
        if (!calls_back || (result != EINVAL && result != ECANCELED))
            expected(g, result);
    }
    result = fairsem_ticket_claim(&ticket, &units);
    if (!(calls_back && result == EINVAL) && expected(g, result)) {
        pick_up(g, n);
        put_down(g, &units, &p->seed);
    }
    fairsem_ticket_return(&ticket);
    renew_token(p);
}

static void *play(void *arg)
{
    struct player *p = arg;

    while (!atomic_load(&p->ground->stop)) {
        int64_t n = next(&p->seed) % (CAPACITY + 1);
        struct timespec deadline = from_now(CLOCK_MONOTONIC, next(&p->seed) % 3);

        switch (next(&p->seed) % 4) {
        case 0:
            try_somehow(p, n);
            break;
        case 1:
            wait_with_a_ticket(p, n, &deadline);
            break;
        default:
            acquire_somehow(p, n, &deadline);
        }
    }
    return NULL;
}

static void leave(void *arg)
{
    atomic_fetch_add(&((struct ground *)arg)->prey_left, 1);
}

/* The thread ends when it is canceled in a wait, or by the close. */
static void *wait_to_be_canceled(void *arg)
{
    struct player *p = arg;
    struct ground *g = p->ground;
    int64_t n = 1 + next(&p->seed) % 2;
    fairsem_units_t units = { 0 };

    pthread_cleanup_push(leave, g);
    while (!atomic_load(&g->stop)) {
        if (expected(g, fairsem_units_acquire(&units, &g->sem, n, NULL))) {
            pick_up(g, n);
            put_down(g, &units, &p->seed);
        } else {
            moment();      /* while the capacity is too small, every call is refused at once */
        }
    }
    pthread_cleanup_pop(1);
    return NULL;
}

/* The owner does one of several things, and undoes most of them before the next. */
static void interfere(struct ground *g, struct player players[], uint32_t *seed)
{
    struct player prey = { .ground = g, .seed = next(seed) }, *victim;
    int64_t n = 1 + next(seed) % MOST;
    int result = 0;

    switch (next(seed) % 5) {
    case 0:
        result = fairsem_set_capacity(&g->sem, next(seed) % (MOST + 1));
        break;
    case 1:
        result = fairsem_consume(&g->sem, n);
        moment();
        result |= fairsem_release(&g->sem, n);
        break;
    case 2:
        victim = &players[next(seed) % PLAYERS];
        pthread_mutex_lock(&victim->token_mutex);
        result = fairsem_token_cancel(&victim->token, REASON);
        pthread_mutex_unlock(&victim->token_mutex);
        if (result == EALREADY)
            result = 0;
        break;
    default:
        start_thread(&prey.thread, wait_to_be_canceled, &prey);
        for (uint32_t i = next(seed) % 400; i > 0; i--)
            moment();
        pthread_cancel(prey.thread);
        fairsem_set_capacity(&g->sem, CAPACITY);        /* a small capacity would keep it running */
        pthread_join(prey.thread, NULL);
        atomic_fetch_sub(&g->prey_left, 1);
    }
    if (result != 0)
        atomic_store(&g->unexpected, result);
}

/* Players play while the owner interferes, so many times and until a callback has run. */
static void begin(struct ground *g, struct player players[], unsigned flags)
{
    int64_t left = stress_times(INTERFERENCES);
    uint32_t seed = test_seed();
    fairsem_attr_t attr = { .capacity = CAPACITY, .max_waiters = PLAYERS,
                            .flags = flags };

    ck_assert_int_eq(fairsem_init(&g->sem, CAPACITY, &attr), 0);
    for (int i = 0; i < PLAYERS; i++) {
        players[i] = (struct player){ .ground = g, .seed = seed + (uint32_t)i };
        pthread_mutex_init(&players[i].token_mutex, NULL);
        fairsem_token_init(&players[i].token);
        start_thread(&players[i].thread, play, &players[i]);
    }
    do {
        interfere(g, players, &seed);
    } while (--left > 0 || atomic_load(&g->called_back) == 0 || atomic_load(&g->acquired) == 0);
}

static void end(struct ground *g, struct player players[])
{
    fairsem_stat_t stat;

    for (int i = 0; i < PLAYERS; i++) {
        pthread_join(players[i].thread, NULL);
        ck_assert_int_eq(fairsem_token_destroy(&players[i].token), 0);
        pthread_mutex_destroy(&players[i].token_mutex);
    }
    printf("acquired %lld, called back %lld, failed %lld, most held at once %lld\n",
           (long long)g->acquired, (long long)g->called_back, (long long)g->failed,
           (long long)g->most_held);
    ck_assert_int_eq(g->unexpected, 0);
    ck_assert_int_eq(g->held, 0);
    ck_assert_int_le(g->most_held, MOST);
    ck_assert_int_eq(g->prey_left, 0);
    ck_assert_int_gt(g->acquired, 0);

    ck_assert_int_eq(fairsem_set_capacity(&g->sem, CAPACITY), 0);
    fairsem_stat(&g->sem, &stat);
    ck_assert_int_eq(stat.available, CAPACITY);
    ck_assert_int_eq(stat.waiters, 0);
    ck_assert_int_eq(stat.over_releases, 0);
    ck_assert_int_eq(stat.waits, stat.grants + stat.timeouts + stat.cancels);
    ck_assert_int_eq(fairsem_destroy(&g->sem), 0);
}

START_TEST(mixed_operations_neither_lose_nor_make_units)
{
    struct ground g = { .held = 0 };
    struct player players[PLAYERS];

    begin(&g, players, 0);
    atomic_store(&g.stop, 1);
    fairsem_set_capacity(&g.sem, CAPACITY);
    end(&g, players);
}
END_TEST

/* ThreadSanitizer loses track of threads that are canceled on a futex. */
START_TEST(mixed_operations_on_an_interruptible_semaphore_neither_lose_nor_make_units)
{
    struct ground g = { .held = 0 };
    struct player players[PLAYERS];
    bool can = can_be_interruptible() && !UNDER_TSAN;

    begin(&g, players, can ? FAIRSEM_INTERRUPTIBLE : 0);
    atomic_store(&g.stop, 1);
    fairsem_set_capacity(&g.sem, CAPACITY);
    end(&g, players);
}
END_TEST

/* U44: each call returns once, from any stage of its wait, and the queue is empty. */
START_TEST(a_close_ends_every_wait_of_mixed_operations)
{
    struct ground g = { .held = 0 };
    struct player players[PLAYERS];

    begin(&g, players, 0);
    ck_assert_int_eq(fairsem_close(&g.sem, CLOSED), 0);
    ck_assert_int_eq(fairsem_waiters(&g.sem), 0);
    atomic_store(&g.stop, 1);
    end(&g, players);
    ck_assert_int_eq(fairsem_closed(&g.sem), CLOSED);
}
END_TEST

int main(void)
{
    RUN_SUITE("mixed stress", mixed_operations_neither_lose_nor_make_units,
              mixed_operations_on_an_interruptible_semaphore_neither_lose_nor_make_units,
              a_close_ends_every_wait_of_mixed_operations);
}
