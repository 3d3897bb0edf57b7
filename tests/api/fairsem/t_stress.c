/* SPDX-License-Identifier: MIT */
/*
 * t_stress.c - threads wait, wait with a deadline, try and are canceled, all on one semaphore.  No
 * unit may be lost or made, and no thread may hang.
 *
 * How to read a failure: if more than all units were held at once, units were made; units that are
 * missing at the end were lost.  If the test times out, a thread sleeps for ever; a debugger shows
 * whether a unit is free at the same time.
 */
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <stdio.h>

#define UNITS   5
#define THREADS 10
#define HUNTED  400     /* threads that are canceled, in each test */

struct ground {
    fairsem_t       sem;
    _Atomic int64_t held;           /* as the holders count it, not the semaphore */
    _Atomic int64_t most_held;
    _Atomic int     stop;
    _Atomic int64_t acquired, timed_out, refused, canceled;
};

struct player {
    pthread_t      thread;
    struct ground *ground;
    uint32_t       seed;
};

static void hold_and_release(struct ground *g, int64_t n, uint32_t *seed)
{
    int64_t held = atomic_fetch_add(&g->held, n) + n;
    int64_t most = atomic_load(&g->most_held);

    while (held > most && !atomic_compare_exchange_weak(&g->most_held, &most, held))
        continue;
    if (next(seed) % 4 == 0)
        moment();
    atomic_fetch_sub(&g->held, n);
    atomic_fetch_add(&g->acquired, 1);
    /* Sometimes in two parts. */
    if (n > 1 && next(seed) % 2 == 0) {
        fairsem_release(&g->sem, 1);
        n--;
    }
    fairsem_release(&g->sem, n);
}

static void *play(void *arg)
{
    struct player *p = arg;
    struct ground *g = p->ground;

    while (!atomic_load(&g->stop)) {
        int64_t n = next(&p->seed) % (UNITS + 1);
        int64_t patience = next(&p->seed) % 200 * 1000;
        int result = 0;

        switch (next(&p->seed) % 5) {
        case 0:
            result = fairsem_acquire(&g->sem, n);
            break;
        case 1:
            result = fairsem_tryacquire(&g->sem, n);
            break;
        case 2:
            n = fairsem_tryacquire_upto(&g->sem, n);
            break;
        case 3:
            result = fairsem_acquire_for(&g->sem, n, patience);
            break;
        default: {
            struct timespec deadline = from_now(CLOCK_REALTIME, patience % 3);

            result = fairsem_acquire_until(&g->sem, n, CLOCK_REALTIME, &deadline);
        }
        }
        if (result == 0)
            hold_and_release(g, n, &p->seed);
        else
            atomic_fetch_add(result == ETIMEDOUT ? &g->timed_out : &g->refused, 1);
    }
    return NULL;
}

static void put_back(void *arg)
{
    atomic_fetch_add(&((struct ground *)arg)->canceled, 1);
}

/* The thread ends when it is canceled in a wait. */
static void *wait_to_be_canceled(void *arg)
{
    struct player *p = arg;
    struct ground *g = p->ground;
    int64_t n = 1 + next(&p->seed) % UNITS;

    pthread_cleanup_push(put_back, g);
    for (;;) {
        insist(0, fairsem_acquire(&g->sem, n));     /* the only cancellation point here */
        hold_and_release(g, n, &p->seed);
        if (atomic_load(&g->stop))
            break;
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void play_it_out(const fairsem_attr_t *attr)
{
    struct ground g = { .held = 0 };
    struct player players[THREADS];
    const int64_t to_hunt = stress_times(HUNTED);
    uint32_t seed = test_seed();
    int64_t hunted = 0;

    ck_assert_int_eq(fairsem_init(&g.sem, UNITS, attr), 0);
    for (int i = 0; i < THREADS; i++) {
        players[i] = (struct player){ .ground = &g, .seed = seed + (uint32_t)i };
        start_thread(&players[i].thread, play, &players[i]);
    }
    while (hunted < to_hunt || atomic_load(&g.acquired) == 0) {
        struct player prey = { .ground = &g, .seed = next(&seed) };

        start_thread(&prey.thread, wait_to_be_canceled, &prey);
        for (uint32_t i = next(&seed) % 400; i > 0; i--)
            moment();
        pthread_cancel(prey.thread);
        pthread_join(prey.thread, NULL);
        hunted++;
    }
    atomic_store(&g.stop, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(players[i].thread, NULL);

    printf("acquired %lld, timed out %lld, refused %lld, canceled %lld, most held at once %lld\n",
           (long long)g.acquired, (long long)g.timed_out, (long long)g.refused,
           (long long)g.canceled, (long long)g.most_held);
    ck_assert_int_eq(g.held, 0);
    ck_assert_int_le(g.most_held, UNITS);
    ck_assert_int_eq(fairsem_available(&g.sem), UNITS);
    ck_assert_int_eq(fairsem_waiters(&g.sem), 0);
    ck_assert_int_eq(fairsem_destroy(&g.sem), 0);
    ck_assert_int_eq(g.canceled, hunted);
}

START_TEST(units_are_neither_lost_nor_made)
{
    play_it_out(NULL);
}
END_TEST

START_TEST(no_unit_is_lost_where_waiters_sleep_at_once)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_NO_SPIN };

    play_it_out(&attr);
}
END_TEST

/* The bound is so short that strict order and bypass alternate all the time. */
START_TEST(no_unit_is_lost_where_running_threads_pass)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = 50000 };

    play_it_out(&attr);
}
END_TEST

#if defined(__linux__)
START_TEST(no_unit_is_lost_where_running_threads_pass_and_signals_interrupt)
{
    const fairsem_attr_t attr = {
        .flags = FAIRSEM_BOUNDED_BYPASS | FAIRSEM_INTERRUPTIBLE, .bypass_ns = 50000
    };

    if (UNDER_TSAN)
        NOT_HERE("the tool does not know how to cancel a thread on a futex");
    play_it_out(&attr);
}
END_TEST
#define LINUX_TESTS , no_unit_is_lost_where_running_threads_pass_and_signals_interrupt
#else
#define LINUX_TESTS
#endif

int main(void)
{
    RUN_SUITE("stress", units_are_neither_lost_nor_made,
              no_unit_is_lost_where_waiters_sleep_at_once,
              no_unit_is_lost_where_running_threads_pass LINUX_TESTS);
}
