/* SPDX-License-Identifier: MIT */
/* t_token.c - one token ends any number of waits, on any semaphores, and no unit is lost. */
#include "askers.h"
#include "stress.h"
#include "suite.h"

#include <errno.h>
#include <limits.h>

#define REASON 4711

START_TEST(a_token_keeps_its_first_reason)
{
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER, other;

    ck_assert_int_eq(fairsem_token_reason(&token), 0);
    ck_assert_int_eq(fairsem_token_cancel(&token, -1), EINVAL);
    ck_assert_int_eq(fairsem_token_cancel(&token, INT_MIN), EINVAL);
    ck_assert_int_eq(fairsem_token_reason(&token), 0);
    ck_assert_int_eq(fairsem_token_cancel(&token, 0), 0);
    ck_assert_int_eq(fairsem_token_reason(&token), ECANCELED);
    ck_assert_int_eq(fairsem_token_cancel(&token, REASON), EALREADY);
    ck_assert_int_eq(fairsem_token_cancel(&token, 0), EALREADY);
    ck_assert_int_eq(fairsem_token_reason(&token), ECANCELED);
    ck_assert_int_eq(fairsem_token_destroy(&token), 0);

    ck_assert_int_eq(fairsem_token_init(&other), 0);
    ck_assert_int_eq(fairsem_token_cancel(&other, INT_MAX), 0);
    ck_assert_int_eq(fairsem_token_reason(&other), INT_MAX);
    ck_assert_int_eq(fairsem_token_destroy(&other), 0);
}
END_TEST

/* U17 (golang 63615): also if units are free, and with a deadline in the past. */
START_TEST(a_token_that_is_canceled_already_fails_the_acquire_and_takes_nothing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(3);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct timespec past = from_now(CLOCK_MONOTONIC, -1000);
    fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .token = &token };
    fairsem_units_t units = { 0 };

    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), 0);
    ck_assert_int_eq(fairsem_token_cancel(&token, REASON), 0);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), REASON);
    ck_assert_int_eq(fairsem_acquire_with(&sem, 0, &how), REASON);
    ck_assert_int_eq(fairsem_units_acquire(&units, &sem, 1, &how), REASON);
    ck_assert_int_eq(units.n, 0);
    how.deadline = &past;
    ck_assert_int_eq(fairsem_acquire_with(&sem, 1, &how), REASON);
    how.deadline = NULL;
    ck_assert_int_eq(fairsem_acquire_with(&sem, 5, &how), REASON);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_token_destroy(&token), 0);
}
END_TEST

/* From the middle of the queue and from its head.  When cancel returns, they have left. */
START_TEST(canceled_waiters_leave_the_queue_and_the_waiters_they_held_up_are_granted)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(5);
    fairsem_token_t head_token = FAIRSEM_TOKEN_INITIALIZER;
    fairsem_token_t middle_token = FAIRSEM_TOKEN_INITIALIZER;
    struct asker head = { .how = { .token = &head_token } };
    struct asker middle = { .how = { .token = &middle_token } };
    struct worker fits = { 0 }, after = { 0 };

    asker_queue(&head, &sem, 8, 1);
    asker_queue(&middle, &sem, 6, 2);
    worker_queue(&fits, &sem, 2, 3);
    worker_queue(&after, &sem, 4, 4);

    ck_assert_int_eq(fairsem_token_cancel(&middle_token, 0), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 3);
    ck_assert_int_eq(fairsem_available(&sem), 5);
    ck_assert_int_eq(worker_join(&middle.w), ECANCELED);
    ck_assert(worker_waits(&head.w) && worker_waits(&fits) && worker_waits(&after));

    /* U10, U11: without any release. */
    ck_assert_int_eq(fairsem_token_cancel(&head_token, REASON), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(worker_join(&head.w), REASON);
    ck_assert_int_eq(worker_join(&fits), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&after), 0);
    ck_assert_int_eq(fairsem_token_destroy(&head_token), 0);
    ck_assert_int_eq(fairsem_token_destroy(&middle_token), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* U14 (kotlinx PR 1323: canceling a waiter that had nothing woke the next one). */
START_TEST(canceling_a_waiter_that_has_nothing_gives_nothing_to_the_next)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct asker w1 = { .how = { .token = &token } };
    struct worker w2 = { 0 };

    asker_queue(&w1, &sem, 1, 1);
    worker_queue(&w2, &sem, 1, 2);
    ck_assert_int_eq(fairsem_token_cancel(&token, 0), 0);
    ck_assert_int_eq(worker_join(&w1.w), ECANCELED);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert(worker_waits(&w2));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w2), 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

/* The release grants, before the cancel; the waiter may not have run by then. */
START_TEST(a_waiter_granted_before_the_cancel_keeps_its_units)
{
    for (int round = 0; round < stress_times(200); round++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
        struct asker a = { .how = { .token = &token } };

        asker_queue(&a, &sem, 1, 1);
        fairsem_release(&sem, 1);
        fairsem_token_cancel(&token, 0);
        ck_assert_int_eq(worker_join(&a.w), 0);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(fairsem_token_destroy(&token), 0);
    }
}
END_TEST

/* A wait was granted, timed out, or ended by pthread_cancel.  Then its token can be used for other
 * waits, canceled and destroyed. */
START_TEST(a_wait_that_has_ended_no_longer_uses_its_token)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;

    for (int round = 0; round < 50; round++) {
        struct timespec deadline = from_now(CLOCK_REALTIME, 3);
        struct asker granted = { .how = { .token = &token } }, canceled = granted, late = granted;
        void *result;

        late.how.clock = CLOCK_REALTIME;
        late.how.deadline = &deadline;
        asker_queue(&granted, &sem, 1, 1);
        asker_queue(&canceled, &sem, 1, 2);
        asker_start(&late, &sem, 1);
        ck_assert_int_eq(fairsem_token_destroy(&token), EBUSY);
        ck_assert_int_eq(worker_join(&late.w), ETIMEDOUT);
        pthread_cancel(canceled.w.thread);
        pthread_join(canceled.w.thread, &result);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
        ck_assert_int_eq(fairsem_waiters(&sem), 1);
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(worker_join(&granted.w), 0);
        if (round % 2 == 0) {
            ck_assert_int_eq(fairsem_token_destroy(&token), 0);
            ck_assert_int_eq(fairsem_token_init(&token), 0);
        } else if (round % 5 == 0) {
            ck_assert_int_eq(fairsem_token_cancel(&token, 0), 0);
            ck_assert_int_eq(fairsem_token_destroy(&token), 0);
            ck_assert_int_eq(fairsem_token_init(&token), 0);
        }
        ck_assert_int_eq(fairsem_token_reason(&token), 0);
    }
    ck_assert_int_eq(fairsem_available(&sem), 0);
}
END_TEST

/* ---------------------------------------------------------------- races */

/* U13 (asyncio 270, anyio 947).  A release races with the cancel of W1; W2 waits behind it.  The
 * unit goes to W1, which then releases it, or to W2. */
struct canceler {
    fairsem_token_t token;
    _Atomic int     turn;       /* starts a round: its number; back to 0 when it is over */
    int             rounds;
};

static void *cancel_when_told(void *arg)
{
    struct canceler *c = arg;

    for (int i = 1; i <= c->rounds; i++) {
        while (atomic_load(&c->turn) != i)
            moment();
        for (int spin = i % 31 * 20; spin > 0; spin--)
            atomic_load_explicit(&c->turn, memory_order_relaxed);
        fairsem_token_cancel(&c->token, 0);
        atomic_store(&c->turn, 0);
    }
    return NULL;
}

START_TEST(a_grant_that_races_with_a_token_is_kept_or_never_happened)
{
    struct canceler c = { .rounds = (int)stress_times(600) };
    pthread_t thread;

    start_thread(&thread, cancel_when_told, &c);
    for (int i = 1; i <= c.rounds; i++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        struct asker w1 = { .how = { .token = &c.token } };
        struct worker w2 = { 0 };
        int first;

        ck_assert_int_eq(fairsem_token_init(&c.token), 0);
        asker_queue(&w1, &sem, 1, 1);
        worker_queue(&w2, &sem, 1, 2);
        atomic_store(&c.turn, i);
        for (int spin = i % 67 * 20; spin > 0; spin--)
            atomic_load_explicit(&c.turn, memory_order_relaxed);
        fairsem_release(&sem, 1);
        first = worker_join(&w1.w);
        if (first == 0)
            fairsem_release(&sem, 1);
        else
            ck_assert_int_eq(first, ECANCELED);
        ck_assert_int_eq(worker_join(&w2), 0);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        while (atomic_load(&c.turn) != 0)
            moment();
        ck_assert_int_eq(fairsem_token_destroy(&c.token), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
    pthread_join(thread, NULL);
}
END_TEST

struct chase {
    fairsem_t        sem;
    fairsem_token_t *tokens;
    int              count;
    _Atomic int      at;        /* the token in use */
    _Atomic int      stop;
    int              granted, strange;
};

/* Acquire and release with one token after the other, with each until it is canceled. */
static void *flee(void *arg)
{
    struct chase *c = arg;

    for (int i = 0; i < c->count; i++) {
        fairsem_wait_t how = { .token = &c->tokens[i] };
        int result;

        atomic_store(&c->at, i);
        while ((result = fairsem_acquire_with(&c->sem, 1, &how)) == 0) {
            c->granted++;
            fairsem_release(&c->sem, 1);
        }
        c->strange += result != REASON;
    }
    atomic_store(&c->stop, 1);
    return NULL;
}

static void *hog(void *arg)
{
    struct chase *c = arg;

    while (!atomic_load(&c->stop)) {
        insist(0, fairsem_acquire(&c->sem, 1));
        fairsem_release(&c->sem, 1);
    }
    return NULL;
}

/* Cancel the token in use, at a different moment of its wait each time. */
static void chase(struct chase *c, int64_t units, int hogs)
{
    pthread_t fleer, hogger;

    *c = (struct chase){ .sem = FAIRSEM_INITIALIZER(units), .count = (int)stress_times(4000), .at = -1 };
    c->tokens = aligned_alloc(_Alignof(fairsem_token_t), (size_t)c->count * sizeof *c->tokens);
    for (int i = 0; i < c->count; i++)
        fairsem_token_init(&c->tokens[i]);
    start_thread(&fleer, flee, c);
    if (hogs > 0)
        start_thread(&hogger, hog, c);
    for (int i = 0; i < c->count; i++) {
        while (atomic_load(&c->at) < i)
            moment();
        for (int spin = i % 113 * 10; spin > 0; spin--)
            atomic_load_explicit(&c->at, memory_order_relaxed);
        fairsem_token_cancel(&c->tokens[i], REASON);
    }
    pthread_join(fleer, NULL);
    if (hogs > 0)
        pthread_join(hogger, NULL);
    ck_assert_int_eq(c->strange, 0);
    ck_assert_int_eq(fairsem_available(&c->sem), units);
    ck_assert_int_eq(fairsem_waiters(&c->sem), 0);
    for (int i = 0; i < c->count; i++)
        ck_assert_int_eq(fairsem_token_destroy(&c->tokens[i]), 0);
    free(c->tokens);
}

/* U18 (e2b-dev 3629: a cancel between the check of the token and the wait was lost). */
START_TEST(a_cancel_at_any_moment_of_the_wait_ends_it)
{
    struct chase c;

    chase(&c, 0, 0);
    ck_assert_int_eq(c.granted, 0);
}
END_TEST

/* U19 (vs-threading 1000: canceler and waiter took two locks in different orders). */
START_TEST(acquiring_and_canceling_at_full_speed_neither_hangs_nor_loses_a_unit)
{
    struct chase c;

    chase(&c, 1, 1);
}
END_TEST

int main(void)
{
    RUN_SUITE("token", a_token_keeps_its_first_reason,
              a_token_that_is_canceled_already_fails_the_acquire_and_takes_nothing,
              canceled_waiters_leave_the_queue_and_the_waiters_they_held_up_are_granted,
              canceling_a_waiter_that_has_nothing_gives_nothing_to_the_next,
              a_waiter_granted_before_the_cancel_keeps_its_units,
              a_wait_that_has_ended_no_longer_uses_its_token,
              a_grant_that_races_with_a_token_is_kept_or_never_happened,
              a_cancel_at_any_moment_of_the_wait_ends_it,
              acquiring_and_canceling_at_full_speed_neither_hangs_nor_loses_a_unit);
}
