/* SPDX-License-Identifier: MIT */
/*
 * t_refused_waits.c - a wait that is refused beside the cancellation of its token.
 *
 * The wait is on the token's list before it asks, and leaves it after the refusal: in between
 * the canceller finds it there, and must not take it for one that has still to join.  (It did:
 * both took it off the list, and the token then listed stacks that were gone.)
 */
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>

/* ---------------------------------------------------------------- exactly there */

static _Thread_local int locks_left = -1;   /* until it stops before one; -1: it never does */
static _Atomic bool      stopped, goes_on;

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    if (locks_left > 0 && --locks_left == 0) {
        locks_left = -1;
        atomic_store(&stopped, true);
        while (!atomic_load(&goes_on))
            sched_yield();
    }
    return __real_pthread_mutex_lock(m);
}

enum kind { TOO_BIG, FULL, CLOSED, WATCHED };

struct scene {
    enum kind        kind;
    fairsem_t        sem, other;
    fairsem_token_t  token;
    int              result;
};

/* The wait's thread: its third lock from here is that of the token, to leave its list. */
static void *be_refused(void *arg)
{
    struct scene *s = arg;
    const fairsem_wait_t how = { .token = &s->token };

    fairsem_acquire_for(&s->other, 2, 1);   /* it has waited before */
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

/* Beside it on the list another wait, older and in line: it must be canceled, and forgotten. */
START_TEST(a_refused_wait_that_its_token_finds_is_taken_off_the_list_once)
{
    for (enum kind kind = TOO_BIG; kind <= CLOSED; kind++) {
        struct scene s;
        struct worker in_line = { 0 };
        pthread_t older, refused;
        void *result;

        prepare(&s, kind);
        if (kind == FULL)
            worker_queue(&in_line, &s.sem, 4, 1);
        start_thread(&older, wait_with_token, &s);
        await_waiters(&s.other, 1);
        start_thread(&refused, be_refused, &s);
        while (!atomic_load(&stopped))
            sched_yield();
        ck_assert_int_eq(fairsem_token_cancel(&s.token, 4711), 0);
        pthread_join(older, &result);
        ck_assert_int_eq((int)(intptr_t)result, 4711);
        ck_assert_int_eq(fairsem_token_destroy(&s.token), EBUSY);   /* it has still to come by */
        atomic_store(&goes_on, true);
        pthread_join(refused, NULL);
        ck_assert_int_eq(s.result, expected[kind]);
        ck_assert_int_eq(fairsem_token_destroy(&s.token), 0);
        ck_assert_int_eq(fairsem_release(&s.sem, 4), 0);
        if (kind == FULL)
            ck_assert_int_eq(worker_join(&in_line), 0);
        ck_assert_int_eq(fairsem_destroy(&s.sem), 0);
        ck_assert_int_eq(fairsem_destroy(&s.other), 0);
    }
}
END_TEST

/* ---------------------------------------------------------------- anywhere */

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
            fairsem_ticket_return(&ticket);     /* which serves the next */
        } else {
            result = fairsem_acquire_with(&s->sem, s->kind == TOO_BIG ? 5 : 1, &how);
        }
        if (result == 0 && s->kind != WATCHED)
            atomic_store(&s->unexpected, true);
    } while (fairsem_token_reason(&s->token) == 0);
    return NULL;
}

/* Refused again and again, until the token says that it is over: the ordinary end of a program. */
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
            sched_yield();
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
    RUN_SUITE("refused waits", a_refused_wait_that_its_token_finds_is_taken_off_the_list_once,
              waits_are_refused_while_their_token_is_canceled);
}
