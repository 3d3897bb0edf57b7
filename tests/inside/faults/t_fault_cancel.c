/* SPDX-License-Identifier: MIT */
/*
 * t_fault_cancel.c - threads are canceled or end, many at once and one after the other, in every
 * kind of wait.  No unit and no place in the queue is lost with them.
 */
#include "faults.h"
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include "parking.h"

#include <errno.h>
#include <stdio.h>

#define PREY  16      /* canceled at once */
#define UNITS 3

struct ground {
    fairsem_t       sem;
    fairsem_token_t token;      /* never canceled: the waits that use it must leave its list */
    _Atomic int64_t held;
    _Atomic int     granted;
};

struct prey {
    pthread_t        thread;
    struct ground   *ground;
    int              kind;
    fairsem_ticket_t ticket;
    fairsem_units_t  units;
};

/* It has no cancellation point, so the units are always released. */
static void use(struct ground *g, fairsem_units_t *units)
{
    atomic_fetch_add(&g->held, units->n);
    atomic_fetch_add(&g->granted, 1);
    atomic_fetch_sub(&g->held, units->n);
    fairsem_units_release(units);
}

static void use_in_with(void *arg)
{
    atomic_fetch_add(&((struct ground *)arg)->granted, 1);
    pthread_testcancel();
}

/*
 * musl (1.2.3) runs the handlers of a thread that is canceled on a futex with a stack that is not
 * aligned as the x86 ABI requires.  wait.c does the same for its own handler.
 */
#if !defined(__GLIBC__) && defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
__attribute__((force_align_arg_pointer))
#endif
static void clean_up(void *arg)
{
    struct prey *p = arg;

    fairsem_ticket_return(&p->ticket);
    fairsem_units_release(&p->units);
}

static void wait_once(struct prey *p)
{
    struct ground *g = p->ground;
    struct timespec at = from_now(CLOCK_REALTIME, 3600 * 1000);
    fairsem_wait_t how = { .clock = CLOCK_REALTIME, .deadline = &at, .token = &g->token,
                           .priority = p->kind % 2 };

    switch (p->kind % 4) {
    case 0:
        if (fairsem_units_acquire(&p->units, &g->sem, 1 + p->kind % UNITS, &how) == 0)
            use(g, &p->units);
        break;
    case 1:
        if (fairsem_acquire_for(&g->sem, 2, 30000) == 0) {
            insist(0, fairsem_units_adopt(&p->units, &g->sem, 2));
            use(g, &p->units);
        }
        break;
    case 2:
        if (was_taken(fairsem_ticket_take(&p->ticket, &g->sem, 1, 0, NULL, NULL))
            && fairsem_ticket_wait(&p->ticket, &how) == 0
            && fairsem_ticket_claim(&p->ticket, &p->units) == 0)
            use(g, &p->units);
        break;
    default:
        insist(0, fairsem_with(&g->sem, 1, use_in_with, g));
    }
}

static void *wait_until_canceled(void *arg)
{
    struct prey *p = arg;

    pthread_cleanup_push(clean_up, p);
    for (;;) {
        wait_once(p);
        pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void storm(struct ground *g, uint32_t *seed)
{
    struct prey prey[PREY];

    for (int i = 0; i < PREY; i++) {
        prey[i] = (struct prey){ .ground = g, .kind = (int)next(seed) };
        start_thread(&prey[i].thread, wait_until_canceled, &prey[i]);
    }
    for (uint32_t i = next(seed) % 600; i > 0; i--)
        moment();
    for (int i = 0; i < PREY; i++)
        pthread_cancel(prey[i].thread);
    for (int i = 0; i < PREY; i++)
        pthread_join(prey[i].thread, NULL);
}

static void nothing_is_lost_in_storms(unsigned flags)
{
    const fairsem_attr_t attr = { .capacity = UNITS, .flags = flags };
    struct ground g = { .held = 0 };
    const int rounds = fault_times(30);
    uint32_t seed = test_seed();
    fairsem_stat_t stat = { 0 };

    ck_assert_int_eq(fairsem_init(&g.sem, UNITS, &attr), 0);
    ck_assert_int_eq(fairsem_token_init(&g.token), 0);
    for (int round = 0; round < rounds || stat.cancels == 0 || g.granted == 0; round++) {
        storm(&g, &seed);
        ck_assert_int_eq(fairsem_waiters(&g.sem), 0);
        ck_assert_int_eq(fairsem_available(&g.sem), UNITS);
        ck_assert_int_eq(g.held, 0);
        fairsem_stat(&g.sem, &stat);
    }
    printf("%d granted, %lld waits, %lld canceled\n", g.granted, (long long)stat.waits,
           (long long)stat.cancels);
    ck_assert_int_eq(stat.waits, stat.grants + stat.timeouts + stat.cancels);
    ck_assert_int_eq(stat.over_releases, 0);
    ck_assert_int_eq(fairsem_token_destroy(&g.token), 0);
    ck_assert_int_eq(fairsem_destroy(&g.sem), 0);
}

START_TEST(a_storm_of_cancellations_loses_no_unit_and_no_place)
{
    nothing_is_lost_in_storms(0);
}
END_TEST

/* ThreadSanitizer loses track of threads that are canceled on a futex. */
START_TEST(an_interruptible_semaphore_loses_nothing_in_a_storm_of_cancellations)
{
    if (FS_HAS_FUTEX && !UNDER_TSAN)
        nothing_is_lost_in_storms(FAIRSEM_INTERRUPTIBLE);
}
END_TEST

static void *exit_when_granted(void *arg)
{
    insist(0, fairsem_acquire(arg, 1));
    pthread_exit(NULL);
}

/*
 * A thread ends as soon as it has been granted, while the release that woke it still runs.  Its
 * parker goes to a thread that begins at the same time, which the same release may have to wake.
 */
START_TEST(threads_may_end_as_soon_as_they_are_granted)
{
    enum { MANY = 40 };
    const int batches = fault_times(100) / 2 * 2;
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    pthread_t thread[2][MANY];

    for (int i = 0; i < MANY; i++)
        start_thread(&thread[0][i], exit_when_granted, &sem);
    for (int batch = 1; batch <= batches; batch++) {
        await_waiters(&sem, MANY);      /* those of the last batch, which are first */
        for (int i = 0; i < MANY; i++) {
            if (i == batch % MANY)
                ck_assert_int_eq(fairsem_release(&sem, MANY), 0);
            start_thread(&thread[batch % 2][i], exit_when_granted, &sem);
        }
        for (int i = 0; i < MANY; i++)
            pthread_join(thread[1 - batch % 2][i], NULL);
    }
    ck_assert_int_eq(fairsem_release(&sem, MANY), 0);
    for (int i = 0; i < MANY; i++)
        pthread_join(thread[0][i], NULL);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("fault cancel", a_storm_of_cancellations_loses_no_unit_and_no_place,
              an_interruptible_semaphore_loses_nothing_in_a_storm_of_cancellations,
              threads_may_end_as_soon_as_they_are_granted);
}
