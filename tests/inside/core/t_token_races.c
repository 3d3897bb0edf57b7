/* SPDX-License-Identifier: MIT */
/*
 * t_token_races.c - a wait is refused, or joins the queue, while its token is being canceled.
 *
 * A wait is put on the token's list before it asks, and leaves it after a refusal.  In between the
 * canceling thread finds it there, and must not treat it as a wait that has yet to join.  (It did:
 * both took it off the list, and the token then listed stacks that were gone.)
 *
 * The linker sends the library's calls of pthread_mutex_lock here first (--wrap).
 */
#include "askers.h"
#include "bare.h"
#include "suite.h"
#include "workers.h"

#include "section.h"

#include <errno.h>
#include <stdbool.h>

/* ---------------------------------------------------------------- at one exact moment */

static _Thread_local int locks_left = -1;   /* the thread stops before the last; -1: never */
static _Atomic bool      stopped, goes_on;

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *m);

static void stop_before_the_last(void)
{
    if (locks_left > 0 && --locks_left == 0) {
        locks_left = -1;
        atomic_store(&stopped, true);
        while (!atomic_load(&goes_on))
            moment();
    }
}

static fairsem_t guarded;               /* threads go through doors to its mutex */
static _Thread_local bool first_door, second_door;
static _Atomic bool at_first_door, at_second_door;

/*
 * A thread at the first door waits until another is at the second door.  That one waits until the
 * first is in the queue.
 */
static void go_through_doors(const pthread_mutex_t *m)
{
    if (first_door && m == &fs_inside(&guarded)->mutex) {
        first_door = false;
        atomic_store(&at_first_door, true);
        while (!atomic_load(&at_second_door))
            moment();
    } else if (second_door && m == &fs_inside(&guarded)->mutex) {
        second_door = false;
        atomic_store(&at_second_door, true);
        while (fairsem_waiters(&guarded) != 1)
            moment();
    }
}

BARE int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    stop_before_the_last();
    go_through_doors(m);
    return __real_pthread_mutex_lock(m);
}

/* The library tries for a moment before it locks.  Here a try is a lock. */
BARE int __wrap_pthread_mutex_trylock(pthread_mutex_t *m)
{
    return __wrap_pthread_mutex_lock(m);
}

enum kind { TOO_BIG, FULL, CLOSED, WATCHED };

struct scene {
    enum kind        kind;
    fairsem_t        sem, other;
    fairsem_token_t  token;
    int              result;
};

/* The third lock from locks_left = 3 on is the token's: the wait is about to leave its list. */
static void *be_refused(void *arg)
{
    struct scene *s = arg;
    const fairsem_wait_t how = { .token = &s->token };

    insist(ETIMEDOUT, fairsem_acquire_for(&s->other, 2, 1));    /* it has waited before */
    locks_left = 3;
    s->result = fairsem_acquire_with(&s->sem, s->kind == TOO_BIG ? 5 : 1, &how);
    locks_left = -1;
    return NULL;
}

static void *wait_with_token(void *arg)
{
    struct scene *s = arg;
    const fairsem_wait_t how = { .token = &s->token };

    return (void *)(intptr_t)fairsem_acquire_with(&s->other, 1, &how);
}

static void prepare(struct scene *s, enum kind kind)
{
    const fairsem_attr_t attr = { .capacity = 4, .max_waiters = kind == FULL ? 1 : 0 };

    *s = (struct scene){ .kind = kind, .other = FAIRSEM_INITIALIZER(0),
                         .token = FAIRSEM_TOKEN_INITIALIZER };
    ck_assert_int_eq(fairsem_init(&s->sem, 0, &attr), 0);
    if (kind == CLOSED)
        ck_assert_int_eq(fairsem_close(&s->sem, 0), 0);
    stopped = goes_on = false;
}

static const int expected[] = {
    [TOO_BIG] = E2BIG, [FULL] = ENOBUFS, [CLOSED] = ESHUTDOWN
};

/* An older wait, in a queue, is on the same list: it must be canceled, and leave the list. */
START_TEST(a_refused_wait_that_its_token_finds_is_taken_off_the_list_once)
{
    for (enum kind kind = TOO_BIG; kind <= CLOSED; kind++) {
        struct scene s;
        struct worker in_queue = { 0 };
        pthread_t older, refused;
        void *result;

        prepare(&s, kind);
        if (kind == FULL)
            worker_queue(&in_queue, &s.sem, 4, 1);
        start_thread(&older, wait_with_token, &s);
        await_waiters(&s.other, 1);
        start_thread(&refused, be_refused, &s);
        while (!atomic_load(&stopped))
            moment();
        ck_assert_int_eq(fairsem_token_cancel(&s.token, 4711), 0);
        pthread_join(older, &result);
        ck_assert_int_eq((int)(intptr_t)result, 4711);
        ck_assert_int_eq(fairsem_token_destroy(&s.token), EBUSY);   /* it lists the refused wait */
        atomic_store(&goes_on, true);
        pthread_join(refused, NULL);
        ck_assert_int_eq(s.result, expected[kind]);
        ck_assert_int_eq(fairsem_token_destroy(&s.token), 0);
        ck_assert_int_eq(fairsem_release(&s.sem, 4), 0);
        if (kind == FULL)
            ck_assert_int_eq(worker_join(&in_queue), 0);
        ck_assert_int_eq(fairsem_destroy(&s.sem), 0);
        ck_assert_int_eq(fairsem_destroy(&s.other), 0);
    }
}
END_TEST

static void *wait_behind_the_first_door(void *arg)
{
    const fairsem_wait_t how = { .token = arg };

    first_door = true;
    insist(ECANCELED, fairsem_acquire_with(&guarded, 1, &how));
    return NULL;
}

/* A token with two waits is canceled.  After the first, and before the second, that one joins. */
START_TEST(no_wait_takes_a_negative_time)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct asker a = { .how = { .token = &token } };
    pthread_t late;
    fairsem_stat_t stat;

    ck_assert_int_eq(fairsem_init(&guarded, 0, NULL), 0);
    start_thread(&late, wait_behind_the_first_door, &token);
    while (!atomic_load(&at_first_door))
        moment();
    asker_queue(&a, &sem, 1, 1);
    second_door = true;
    ck_assert_int_eq(fairsem_token_cancel(&token, 0), 0);
    ck_assert_int_eq(worker_join(&a.w), ECANCELED);
    pthread_join(late, NULL);
    fairsem_stat(&guarded, &stat);
    ck_assert_int_eq(stat.waits, 1);
    ck_assert_int_ge(stat.wait_ns_total, 0);
    ck_assert_int_ge(stat.wait_ns_max, 0);
}
END_TEST

/* ---------------------------------------------------------------- at any moment */

enum { THREADS = 8, ROUNDS = 60 };

struct shutdown {
    enum kind       kind;
    fairsem_t       sem;
    fairsem_token_t token;
    _Atomic int     begun;
    _Atomic bool    unexpected;
};

static void *ask_until_canceled(void *arg)
{
    struct shutdown *s = arg;
    const fairsem_wait_t how = { .token = &s->token };
    fairsem_ticket_t ticket = { 0 };
    int result;

    do {
        atomic_fetch_add(&s->begun, 1);
        if (s->kind == WATCHED) {
            result = fairsem_ticket_take(&ticket, &s->sem, 1, 0, NULL, NULL);
            if (was_taken(result))
                result = fairsem_ticket_wait(&ticket, &how);
            fairsem_ticket_return(&ticket);     /* which grants to the next */
        } else {
            result = fairsem_acquire_with(&s->sem, s->kind == TOO_BIG ? 5 : 1, &how);
        }
        if (result == 0 && s->kind != WATCHED)
            atomic_store(&s->unexpected, true);
    } while (fairsem_token_reason(&s->token) == 0);
    return NULL;
}

/* Refused again and again until the token is canceled: the ordinary end of a program. */
START_TEST(waits_are_refused_while_their_token_is_canceled)
{
    static const enum kind kinds[] = { TOO_BIG, FULL, CLOSED, WATCHED };

    for (int round = 0; round < ROUNDS; round++) {
        struct shutdown s = { .kind = kinds[round % 4] };
        const fairsem_attr_t attr = { .capacity = 4, .max_waiters = s.kind == FULL ? 2 : 0 };
        pthread_t threads[THREADS];

        ck_assert_int_eq(fairsem_init(&s.sem, s.kind == WATCHED ? 1 : 0, &attr), 0);
        ck_assert_int_eq(fairsem_token_init(&s.token), 0);
        for (int i = 0; i < THREADS; i++)
            start_thread(&threads[i], ask_until_canceled, &s);
        while (atomic_load(&s.begun) < THREADS + (s.kind == CLOSED ? 0 : round * 5))
            moment();
        if (s.kind == CLOSED || s.kind == FULL)
            ck_assert_int_eq(fairsem_close(&s.sem, 0), 0);
        for (int spin = round * 50; spin > 0; spin--)
            atomic_load(&s.begun);
        ck_assert_int_eq(fairsem_token_cancel(&s.token, 4711), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        ck_assert(!atomic_load(&s.unexpected));
        ck_assert_int_eq(fairsem_token_destroy(&s.token), 0);
        ck_assert_int_eq(fairsem_waiters(&s.sem), 0);
        ck_assert_int_eq(fairsem_destroy(&s.sem), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("token races", a_refused_wait_that_its_token_finds_is_taken_off_the_list_once,
              no_wait_takes_a_negative_time, waits_are_refused_while_their_token_is_canceled);
}
