/* SPDX-License-Identifier: MIT */
/* t_all.c - units of several semaphores, all of them or none. */
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <string.h>

#define REASON 4711

/* A thread that calls fairsem_acquire_all once. */
struct taker {
    pthread_t         thread;
    fairsem_request_t requests[3];
    size_t            count;
    fairsem_wait_t    how;
    _Atomic int       result;   /* STILL_WAITING, or what the call returned */
};

static void *take(void *arg)
{
    struct taker *t = arg;

    atomic_store(&t->result, fairsem_acquire_all(t->requests, t->count, &t->how));
    return NULL;
}

static void start_taker(struct taker *t)
{
    atomic_store(&t->result, STILL_WAITING);
    start_thread(&t->thread, take, t);
}

static int join_taker(struct taker *t)
{
    pthread_join(t->thread, NULL);
    return atomic_load(&t->result);
}

static void make(fairsem_t *sem, int64_t units, int64_t capacity)
{
    const fairsem_attr_t attr = { .capacity = capacity, .max_waiters = 1 };

    ck_assert_int_eq(fairsem_init(sem, units, &attr), 0);
}

static void check_free(fairsem_t sem[3], int64_t a, int64_t b, int64_t c)
{
    ck_assert_int_eq(fairsem_available(&sem[0]), a);
    ck_assert_int_eq(fairsem_available(&sem[1]), b);
    ck_assert_int_eq(fairsem_available(&sem[2]), c);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(fairsem_waiters(&sem[i]), 0);
}

/* ---------------------------------------------------------------- all of them */

/* The arrays are in read-only memory: a call that sorted an array would crash the test. */
static fairsem_t fixed[3] = {
    FAIRSEM_INITIALIZER(3), FAIRSEM_INITIALIZER(3), FAIRSEM_INITIALIZER(3),
};
static const fairsem_request_t upward[] = {
    { &fixed[0], 1, NULL }, { &fixed[1], 2, NULL }, { &fixed[2], 3, NULL },
};
static const fairsem_request_t downward[] = {
    { &fixed[2], 3, NULL }, { &fixed[1], 2, NULL }, { &fixed[0], 1, NULL },
};
static const fairsem_request_t mixed[] = {
    { &fixed[1], 2, NULL }, { &fixed[2], 3, NULL }, { &fixed[0], 1, NULL },
};

START_TEST(all_units_are_taken_in_any_order_and_the_array_is_unchanged)
{
    const fairsem_request_t *const arrays[] = { upward, downward, mixed };

    for (int i = 0; i < 3; i++) {
        errno = REASON;
        ck_assert_int_eq(fairsem_acquire_all(arrays[i], 3, NULL), 0);
        ck_assert_int_eq(errno, REASON);
        check_free(fixed, 2, 1, 0);
        ck_assert_int_eq(fairsem_release_all(arrays[2 - i], 3), 0);
        check_free(fixed, 3, 3, 3);
    }
}
END_TEST

START_TEST(a_call_without_requests_takes_nothing_and_succeeds)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    const fairsem_request_t request = { &sem, 1, NULL };
    const fairsem_wait_t bad = { .share_key = 1 };

    ck_assert_int_eq(fairsem_acquire_all(NULL, 0, NULL), 0);
    ck_assert_int_eq(fairsem_acquire_all(&request, 0, NULL), 0);
    ck_assert_int_eq(fairsem_acquire_all(NULL, 0, &bad), EINVAL);
    ck_assert_int_eq(fairsem_release_all(NULL, 0), 0);
    ck_assert_int_eq(fairsem_release_all(&request, 0), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
}
END_TEST

/* If the two requests were not added up, the second would wait for ever for units that the first holds. */
START_TEST(one_semaphore_named_twice_counts_as_the_sum)
{
    fairsem_t sem[3];
    const fairsem_request_t five[] = { { &sem[1], 2, NULL }, { &sem[0], 1, NULL }, { &sem[1], 3, NULL } };
    const fairsem_request_t six[] = { { &sem[1], 3, NULL }, { &sem[0], 1, NULL }, { &sem[1], 3, NULL } };
    const fairsem_request_t most[] = { { &sem[1], FAIRSEM_MAX_UNITS, NULL }, { &sem[1], 1, NULL } };

    make(&sem[0], 5, 5);
    make(&sem[1], 5, 5);
    make(&sem[2], 0, 5);
    ck_assert_int_eq(fairsem_acquire_all(six, 3, NULL), E2BIG);
    ck_assert_int_eq(fairsem_acquire_all(most, 2, NULL), EINVAL);
    check_free(sem, 5, 5, 0);
    ck_assert_int_eq(fairsem_acquire_all(five, 3, NULL), 0);
    check_free(sem, 4, 0, 0);
    ck_assert_int_eq(fairsem_release_all(five, 3), 0);
    check_free(sem, 5, 5, 0);
}
END_TEST

/* ---------------------------------------------------------------- or none */

START_TEST(a_usage_error_takes_nothing)
{
    fairsem_t sem[3];
    const fairsem_request_t bad[][3] = {
        { { &sem[0], 1, NULL }, { &sem[1], -1, NULL }, { &sem[2], 1, NULL } },
        { { &sem[2], 1, NULL }, { &sem[1], 1, NULL }, { &sem[0], FAIRSEM_MAX_UNITS + 1, NULL } },
        { { &sem[0], 1, NULL }, { NULL, 1, NULL }, { &sem[2], 1, NULL } },
        { { &sem[2], INT64_MAX, NULL }, { &sem[1], 1, NULL }, { &sem[2], INT64_MAX, NULL } },
        { { &sem[2], FAIRSEM_MAX_UNITS, NULL }, { &sem[0], 0, NULL }, { &sem[2], 1, NULL } },
        { { &sem[2], 2, NULL }, { &sem[0], 0, NULL }, { &sem[2], -1, NULL } },
    };
    const fairsem_request_t good[] = { { &sem[0], 1, NULL }, { &sem[1], 1, NULL } };
    const struct timespec second = { .tv_nsec = 1000000000 }, now = { .tv_nsec = 0 };
    const fairsem_wait_t hows[] = {
        { .clock = CLOCK_REALTIME, .deadline = &second },
        { .clock = CLOCK_THREAD_CPUTIME_ID, .deadline = &now },
        { .clock = CLOCK_REALTIME, .deadline = &now, .timeout_ns = 1 },
        { .share_weight = 1 },
    };

    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(fairsem_init(&sem[i], 3, NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_int_eq(fairsem_acquire_all(bad[i], 3, NULL), EINVAL);
    for (size_t i = 0; i < sizeof hows / sizeof hows[0]; i++)
        ck_assert_int_eq(fairsem_acquire_all(good, 2, &hows[i]), EINVAL);
    check_free(sem, 3, 3, 3);
}
END_TEST

enum { TIME, PAST, TRY, TOKEN, CLOSED, TOO_MUCH, FULL, WAYS };
static const int result_of[WAYS] = {
    ETIMEDOUT, ETIMEDOUT, ETIMEDOUT, REASON, EPIPE, E2BIG, ENOBUFS,
};

/* Each of the three requests fails for each reason. */
START_TEST(a_call_that_fails_at_one_semaphore_takes_nothing)
{
    for (int way = 0; way < WAYS; way++) {
        for (int which = 0; which < 3; which++) {
            fairsem_t sem[3];
            fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
            fairsem_ticket_t ticket = { 0 };
            const struct timespec past = from_now(CLOCK_MONOTONIC, -10);
            fairsem_request_t requests[] = { { &sem[1], 1, NULL }, { &sem[2], 1, NULL }, { &sem[0], 1, NULL } };
            fairsem_wait_t how = { .timeout_ns = way == TRY ? -1 : 1000 * 1000 };

            for (int i = 0; i < 3; i++)
                make(&sem[i], i == which ? 0 : 1, 1);
            if (way == PAST)
                how = (fairsem_wait_t){ .clock = CLOCK_MONOTONIC, .deadline = &past };
            if (way == TOKEN)
                how.token = &token;
            ck_assert_int_eq(fairsem_token_cancel(&token, REASON), 0);
            if (way == CLOSED)
                ck_assert_int_eq(fairsem_close(&sem[which], EPIPE), 0);
            for (int i = 0; way == TOO_MUCH && i < 3; i++)
                requests[i].units += requests[i].sem == &sem[which];
            if (way == FULL)
                ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem[which], 1, 0, NULL, NULL),
                                 EINPROGRESS);
            ck_assert_int_eq(fairsem_acquire_all(requests, 3, &how), result_of[way]);
            fairsem_ticket_return(&ticket);
            check_free(sem, which != 0, which != 1, which != 2);
        }
    }
}
END_TEST

static fairsem_ticket_t tickets[2];
static int served[2], count_served;

static void is_served(fairsem_ticket_t *ticket, void *arg)
{
    (void)arg;
    served[count_served++] = (int)(ticket - tickets);
}

/* The call holds a unit of each of two semaphores and fails at the third.  Both units go to waiting tickets. */
START_TEST(a_failed_call_releases_what_it_held_newest_first)
{
    fairsem_t sem[3];
    struct taker t = {
        .requests = { { &sem[0], 1, NULL }, { &sem[1], 1, NULL }, { &sem[2], 1, NULL } }, .count = 3,
    };

    for (int i = 0; i < 3; i++)
        make(&sem[i], i == 2 ? 0 : 1, 1);
    start_taker(&t);
    await_waiters(&sem[2], 1);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(fairsem_ticket_take(&tickets[i], &sem[i], 1, 0, is_served, NULL),
                         EINPROGRESS);
    ck_assert_int_eq(fairsem_close(&sem[2], EPIPE), 0);
    ck_assert_int_eq(join_taker(&t), EPIPE);
    ck_assert_int_eq(count_served, 2);
    ck_assert_int_eq(served[0], 1);
    ck_assert_int_eq(served[1], 0);
    for (int i = 0; i < 2; i++) {
        fairsem_units_t units = { 0 };

        ck_assert_int_eq(fairsem_ticket_claim(&tickets[i], &units), 0);
        ck_assert_int_eq(fairsem_units_release(&units), 0);
        fairsem_ticket_return(&tickets[i]);
    }
    check_free(sem, 1, 1, 0);
}
END_TEST

/* The call holds units of two semaphores and waits at the third; the token, or pthread_cancel, ends that wait. */
START_TEST(a_canceled_call_releases_what_it_held)
{
    for (int by_thread = 0; by_thread < 2; by_thread++) {
        fairsem_t sem[3];
        fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
        struct taker t = {
            .requests = { { &sem[2], 1, NULL }, { &sem[0], 2, NULL }, { &sem[1], 2, NULL } }, .count = 3,
            .how = { .token = &token },
        };
        struct worker next = { 0 };

        make(&sem[0], 2, 2);
        make(&sem[1], 2, 2);
        make(&sem[2], 0, 2);
        start_taker(&t);
        await_waiters(&sem[2], 1);
        worker_queue(&next, &sem[0], 1, 1);
        if (by_thread)
            pthread_cancel(t.thread);
        else
            ck_assert_int_eq(fairsem_token_cancel(&token, REASON), 0);
        ck_assert_int_eq(join_taker(&t), by_thread ? STILL_WAITING : REASON);
        ck_assert_int_eq(worker_join(&next), 0);
        check_free(sem, 1, 2, 0);
        ck_assert_int_eq(fairsem_token_destroy(&token), 0);
    }
}
END_TEST

static void *cancel_self_and_take(void *arg)
{
    pthread_cancel(pthread_self());
    insist(0, fairsem_acquire_all(upward, 3, NULL));
    insist(0, fairsem_release_all(upward, 3));
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return arg;
}

/* A pending cancel acts only in a wait. */
START_TEST(a_call_that_need_not_wait_is_not_a_cancellation_point)
{
    pthread_t thread;
    void *result;

    start_thread(&thread, cancel_self_and_take, &thread);
    pthread_join(thread, &result);
    ck_assert_ptr_eq(result, &thread);
    check_free(fixed, 3, 3, 3);
}
END_TEST

/* ---------------------------------------------------------------- order */

/* Whatever the order of the array, the call acquires at the lower address first, and waits at the higher. */
START_TEST(a_call_waits_in_one_queue_and_holds_the_units_of_lower_addresses)
{
    fairsem_t sem[3];

    for (int turned = 0; turned < 2; turned++) {
        struct taker t = { .count = 2 };

        make(&sem[0], 1, 1);
        make(&sem[1], 0, 1);
        make(&sem[2], 0, 1);
        t.requests[turned] = (fairsem_request_t){ &sem[0], 1, NULL };
        t.requests[1 - turned] = (fairsem_request_t){ &sem[1], 1, NULL };
        start_taker(&t);
        await_waiters(&sem[1], 1);
        ck_assert_int_eq(fairsem_available(&sem[0]), 0);
        ck_assert_int_eq(fairsem_waiters(&sem[0]), 0);
        ck_assert_int_eq(fairsem_release(&sem[1], 1), 0);
        ck_assert_int_eq(join_taker(&t), 0);
        check_free(sem, 0, 0, 0);
    }
}
END_TEST

START_TEST(at_each_semaphore_the_order_is_that_of_arrival_and_priority)
{
    fairsem_t sem[2] = { FAIRSEM_INITIALIZER(1), FAIRSEM_INITIALIZER(1) };
    struct worker before = { 0 }, behind = { 0 };
    struct taker t = { .requests = { { &sem[1], 2, NULL }, { &sem[0], 1, NULL } }, .count = 2 };
    struct taker urgent = { .requests = { { &sem[1], 3, NULL } }, .count = 1, .how = { .priority = -1 } };

    worker_queue(&before, &sem[1], 2, 1);
    start_taker(&t);
    await_waiters(&sem[1], 2);
    worker_queue(&behind, &sem[1], 1, 3);
    ck_assert_int_eq(fairsem_tryacquire(&sem[1], 1), EAGAIN);
    start_taker(&urgent);
    await_waiters(&sem[1], 4);
    ck_assert_int_eq(fairsem_release(&sem[1], 2), 0);
    ck_assert_int_eq(join_taker(&urgent), 0);
    ck_assert_int_eq(fairsem_release(&sem[1], 2), 0);
    ck_assert_int_eq(worker_join(&before), 0);
    ck_assert_int_eq(fairsem_release(&sem[1], 1), 0);
    ck_assert(worker_waits(&behind));
    ck_assert_int_eq(fairsem_release(&sem[1], 1), 0);
    ck_assert_int_eq(join_taker(&t), 0);
    ck_assert(worker_waits(&behind));
    ck_assert_int_eq(fairsem_release(&sem[1], 1), 0);
    ck_assert_int_eq(worker_join(&behind), 0);
    ck_assert_int_eq(fairsem_available(&sem[0]), 0);
}
END_TEST

enum { ROUNDS = 20000 };

static void *take_again_and_again(void *arg)
{
    const fairsem_request_t *requests = arg;

    for (int i = 0; i < ROUNDS; i++) {
        const fairsem_wait_t soon = { .timeout_ns = 1000 * (i % 64) };
        int error = fairsem_acquire_all(requests, 3, i % 4 == 0 ? &soon : NULL);

        if (error == ETIMEDOUT && i % 4 == 0)
            continue;
        insist(0, error);
        insist(0, fairsem_release_all(requests, 3));
    }
    return NULL;
}

/* If each caller acquired the units in the order of its array, the callers would soon deadlock. */
START_TEST(callers_with_opposite_arrays_do_not_wait_for_each_other_in_a_ring)
{
    const fairsem_request_t *const arrays[] = { upward, downward, mixed };
    pthread_t thread[3];

    for (int i = 0; i < 3; i++)
        start_thread(&thread[i], take_again_and_again, (void *)(uintptr_t)arrays[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    check_free(fixed, 3, 3, 3);
}
END_TEST

/* ---------------------------------------------------------------- release */

START_TEST(a_release_that_fails_does_not_stop_the_others)
{
    fairsem_t sem[3];
    fairsem_request_t requests[] = { { &sem[0], 1, NULL }, { &sem[1], 1, NULL }, { &sem[2], 1, NULL } };

    make(&sem[0], 0, 2);
    make(&sem[1], 2, 2);
    make(&sem[2], 0, 2);
    ck_assert_int_eq(fairsem_release_all(requests, 3), EOVERFLOW);
    check_free(sem, 1, 2, 1);
    requests[0].units = -1;             /* the first error is the result */
    ck_assert_int_eq(fairsem_release_all(requests, 3), EINVAL);
    check_free(sem, 1, 2, 2);
    requests[1] = (fairsem_request_t){ NULL, 1, NULL };
    requests[0] = (fairsem_request_t){ &sem[0], 1, NULL };
    ck_assert_int_eq(fairsem_release_all(requests, 2), EINVAL);
    check_free(sem, 2, 2, 2);
}
END_TEST

int main(void)
{
    RUN_SUITE("all", all_units_are_taken_in_any_order_and_the_array_is_unchanged,
              a_call_without_requests_takes_nothing_and_succeeds,
              one_semaphore_named_twice_counts_as_the_sum, a_usage_error_takes_nothing,
              a_call_that_fails_at_one_semaphore_takes_nothing,
              a_failed_call_releases_what_it_held_newest_first,
              a_canceled_call_releases_what_it_held,
              a_call_that_need_not_wait_is_not_a_cancellation_point,
              a_call_waits_in_one_queue_and_holds_the_units_of_lower_addresses,
              at_each_semaphore_the_order_is_that_of_arrival_and_priority,
              callers_with_opposite_arrays_do_not_wait_for_each_other_in_a_ring,
              a_release_that_fails_does_not_stop_the_others);
}
