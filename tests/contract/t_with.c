/* SPDX-License-Identifier: MIT */
/* t_with.c - units come back on every way out of a scope, a function or a thread. */
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include <errno.h>

static int leave_by(int way, fairsem_t *sem)
{
    for (int i = 0; i < 2; i++) {
        FAIRSEM_SCOPED fairsem_units_t units = { 0 };

        if (way == 5)
            return 5;                           /* the guard is empty */
        if (fairsem_units_acquire(&units, sem, 3, NULL) != 0)
            return -1;
        if (way == 0)
            return fairsem_available(sem) == 0 ? 0 : -2;
        if (way == 1)
            break;
        if (way == 2)
            continue;
        if (way == 3)
            goto out;
        if (way == 4) {
            FAIRSEM_SCOPED fairsem_units_t inner = { 0 };

            if (fairsem_units_split(&units, 1, &inner) != 0)
                return -3;
        }
        if (way == 6)
            fairsem_units_release(&units);      /* before the scope does */
    }
out:
    return way;
}

START_TEST(a_scoped_guard_releases_on_every_way_out)
{
    for (int way = 0; way < 7; way++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(3);

        ck_assert_int_eq(leave_by(way, &sem), way);
        ck_assert_int_eq(fairsem_available(&sem), 3);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
    }
}
END_TEST

/* ---------------------------------------------------------------- threads that are canceled */

struct vanisher {
    pthread_t       thread;
    fairsem_t      *sem;
    fairsem_units_t units;      /* used by the thread; after the join, by the test */
    int64_t         completed;
    int             strange;
};

static void *acquire_until_canceled(void *arg)
{
    struct vanisher *v = arg;

    for (;;) {
        if (fairsem_units_acquire(&v->units, v->sem, 2, NULL) != 0)
            v->strange++;
        v->completed++;
        if (v->units.sem != v->sem || v->units.n != 2 || fairsem_units_release(&v->units) != 0)
            v->strange++;
    }
    return NULL;
}

/* U16 (Effect-TS 6910, 8391: units are taken in one step, and the guard is filled in the next).  Two
 * threads that compete for two units are canceled at any moment.  Afterwards each guard is empty or full. */
START_TEST(a_canceled_acquire_leaves_the_guard_empty_or_full)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(2);
    int64_t completed = 0;

    for (int round = 0; round < stress_times(100) || completed == 0; round++) {
        struct vanisher v[2];
        int64_t held = 0;

        for (int i = 0; i < 2; i++) {
            v[i] = (struct vanisher){ .sem = &sem };
            start_thread(&v[i].thread, acquire_until_canceled, &v[i]);
        }
        for (int i = round % 5 * 60; i > 0; i--)
            moment();
        pthread_cancel(v[0].thread);
        for (int i = round % 3 * 40; i > 0; i--)
            moment();
        pthread_cancel(v[1].thread);
        /* Only a wait is a cancellation point.  Take all units, so that both threads must wait. */
        ck_assert_int_eq(fairsem_consume(&sem, 2), 0);
        for (int i = 0; i < 2; i++) {
            pthread_join(v[i].thread, NULL);
            ck_assert_int_eq(v[i].strange, 0);
            ck_assert(v[i].units.n == 0 || v[i].units.n == 2);
            held += v[i].units.n;
            completed += v[i].completed;
        }
        ck_assert_int_eq(fairsem_available(&sem) + held, 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        for (int i = 0; i < 2; i++)
            ck_assert_int_eq(fairsem_units_release(&v[i].units), 0);
        ck_assert_int_eq(fairsem_release(&sem, 2), 0);
        ck_assert_int_eq(fairsem_available(&sem), 2);
    }
}
END_TEST

struct call {
    fairsem_t   *sem, *gate;
    int64_t      taken;         /* units in use while the function ran */
    int          result;
    int          how_to_end;
    _Atomic bool in_fn;
};

enum { RETURN, WAIT_AT_THE_GATE, EXIT, RELEASE_TOO_MUCH };

static void work(void *arg)
{
    struct call *c = arg;

    c->taken = 5 - fairsem_available(c->sem);
    atomic_store(&c->in_fn, true);
    if (c->how_to_end == WAIT_AT_THE_GATE)
        insist(0, fairsem_acquire(c->gate, 1));
    if (c->how_to_end == EXIT)
        pthread_exit(c);
    if (c->how_to_end == RELEASE_TOO_MUCH)
        fairsem_release(c->sem, 3);
}

static void *call_with(void *arg)
{
    struct call *c = arg;

    c->result = fairsem_with(c->sem, 3, work, c);
    return NULL;
}

static const fairsem_attr_t five = { .capacity = 5 };

START_TEST(with_calls_the_function_while_the_units_are_held)
{
    fairsem_t sem;
    struct call c = { .sem = &sem, .how_to_end = RETURN };

    ck_assert_int_eq(fairsem_init(&sem, 5, &five), 0);
    ck_assert_int_eq(fairsem_with(&sem, 3, work, &c), 0);
    ck_assert_int_eq(c.taken, 3);
    ck_assert_int_eq(fairsem_available(&sem), 5);
    c.in_fn = false;
    ck_assert_int_eq(fairsem_with(&sem, 6, work, &c), E2BIG);
    ck_assert_int_eq(fairsem_with(&sem, -1, work, &c), EINVAL);
    ck_assert(!c.in_fn);
    ck_assert_int_eq(fairsem_available(&sem), 5);
    c.how_to_end = RELEASE_TOO_MUCH;
    ck_assert_int_eq(fairsem_with(&sem, 3, work, &c), EOVERFLOW);
    ck_assert_int_eq(fairsem_available(&sem), 5);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(with_releases_when_the_thread_is_canceled_in_the_function_or_exits)
{
    for (int way = WAIT_AT_THE_GATE; way <= EXIT; way++) {
        fairsem_t sem, gate = FAIRSEM_INITIALIZER(0);
        struct call c = { .sem = &sem, .gate = &gate, .how_to_end = way };
        struct worker next = { 0 };
        pthread_t thread;
        void *result;

        ck_assert_int_eq(fairsem_init(&sem, 5, &five), 0);
        start_thread(&thread, call_with, &c);
        if (way == WAIT_AT_THE_GATE) {
            await_waiters(&gate, 1);
            worker_queue(&next, &sem, 5, 1);
            pthread_cancel(thread);
        }
        pthread_join(thread, &result);
        ck_assert_ptr_eq(result, way == EXIT ? (void *)&c : PTHREAD_CANCELED);
        ck_assert_int_eq(c.taken, 3);
        if (way == WAIT_AT_THE_GATE)
            ck_assert_int_eq(worker_join(&next), 0);
        ck_assert_int_eq(fairsem_available(&sem), way == EXIT ? 5 : 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

START_TEST(with_takes_and_calls_nothing_when_it_is_canceled_in_its_wait)
{
    fairsem_t sem;
    struct call c = { .sem = &sem, .how_to_end = RETURN };
    pthread_t thread;
    void *result;

    ck_assert_int_eq(fairsem_init(&sem, 2, &five), 0);
    start_thread(&thread, call_with, &c);
    await_waiters(&sem, 1);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    ck_assert(!c.in_fn);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("with", a_scoped_guard_releases_on_every_way_out,
              a_canceled_acquire_leaves_the_guard_empty_or_full,
              with_calls_the_function_while_the_units_are_held,
              with_releases_when_the_thread_is_canceled_in_the_function_or_exits,
              with_takes_and_calls_nothing_when_it_is_canceled_in_its_wait);
}
