/* SPDX-License-Identifier: MIT */
/* t_ticket_wait.c - threads wait for a ticket; the place in the queue belongs to the ticket. */
#include "suite.h"
#include "workers.h"

#include <errno.h>

#define REASON 4711

static void take(fairsem_ticket_t *ticket, fairsem_t *sem, int64_t n)
{
    ck_assert_int_eq(fairsem_ticket_take(ticket, sem, n, 0, NULL, NULL), EINPROGRESS);
}

static void state_is(const fairsem_ticket_t *ticket, enum fairsem_ticket_state state)
{
    ck_assert_int_eq(fairsem_ticket_state(ticket), state);
}

START_TEST(a_wait_for_a_ticket_that_ends_early_keeps_the_place)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t first = { 0 }, second = { 0 };
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct timespec past = from_now(CLOCK_REALTIME, -1000);
    struct timespec soon = from_now(CLOCK_MONOTONIC, 20), bad = { .tv_nsec = 1000000000 };
    fairsem_wait_t gone = { .clock = CLOCK_REALTIME, .deadline = &past };
    fairsem_wait_t timed = { .clock = CLOCK_MONOTONIC, .deadline = &soon };
    fairsem_wait_t canceled = { .token = &token };
    const fairsem_wait_t wrong[] = {
        { .priority = 1 }, { .priority = -1 }, { .reserved_ = { [3] = 1 } },
        { .clock = (clockid_t)99, .deadline = &soon }, { .deadline = &bad },
    };

    ck_assert_int_eq(fairsem_ticket_wait(&first, NULL), EINVAL);    /* idle */
    take(&first, &sem, 1);
    take(&second, &sem, 1);
    fairsem_token_cancel(&token, REASON);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(fairsem_ticket_wait(&first, &wrong[i]), EINVAL);
    ck_assert_int_eq(fairsem_ticket_wait(&first, &gone), ETIMEDOUT);
    ck_assert_int_eq(fairsem_ticket_wait(&first, &timed), ETIMEDOUT);
    ck_assert_int_eq(fairsem_ticket_wait(&first, &canceled), REASON);
    state_is(&first, FAIRSEM_TICKET_WAITING);
    ck_assert_int_eq(fairsem_waiters(&sem), 2);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    state_is(&first, FAIRSEM_TICKET_GRANTED);       /* it has stayed the first */
    state_is(&second, FAIRSEM_TICKET_WAITING);
    ck_assert_int_eq(fairsem_ticket_wait(&first, NULL), 0);
    ck_assert_int_eq(fairsem_ticket_wait(&first, &gone), 0);
    state_is(&first, FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_ticket_return(&first), 0);
    ck_assert_int_eq(fairsem_ticket_wait(&second, NULL), 0);
    ck_assert_int_eq(fairsem_ticket_return(&second), 0);
    ck_assert_int_eq(fairsem_token_destroy(&token), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

struct watcher {
    pthread_t         thread;
    fairsem_ticket_t *ticket;
    fairsem_wait_t    how;
    int               result;
};

static void *watch(void *arg)
{
    struct watcher *w = arg;

    w->result = fairsem_ticket_wait(w->ticket, &w->how);
    return NULL;
}

enum { WATCHERS = 6 };

static void start_watchers(struct watcher w[], fairsem_ticket_t *ticket)
{
    for (int i = 0; i < WATCHERS; i++) {
        w[i].ticket = ticket;
        w[i].result = STILL_WAITING;
        start_thread(&w[i].thread, watch, &w[i]);
    }
}

/* One has a token, one a deadline that passes, and one thread is canceled: the others go on
 * waiting. */
START_TEST(several_threads_can_wait_for_one_ticket)
{
    for (int round = 0; round < 100; round++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        fairsem_ticket_t ticket = { 0 };
        fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
        struct timespec soon = from_now(CLOCK_MONOTONIC, round % 3);
        struct watcher w[WATCHERS] = { { .how = { 0 } } };
        void *result;

        w[1].how.token = &token;
        w[3].how = (fairsem_wait_t){ .clock = CLOCK_MONOTONIC, .deadline = &soon };
        take(&ticket, &sem, 1);
        start_watchers(w, &ticket);
        pthread_cancel(w[4].thread);
        pthread_join(w[4].thread, &result);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
        ck_assert_int_eq(fairsem_token_cancel(&token, REASON), 0);
        pthread_join(w[1].thread, NULL);
        ck_assert_int_eq(w[1].result, REASON);
        pthread_join(w[3].thread, NULL);
        ck_assert_int_eq(w[3].result, ETIMEDOUT);
        state_is(&ticket, FAIRSEM_TICKET_WAITING);
        ck_assert_int_eq(fairsem_waiters(&sem), 1);
        if (round % 2 == 0)
            ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        else
            ck_assert_int_eq(fairsem_close(&sem, EPIPE), 0);
        for (int i = 0; i < WATCHERS; i++) {
            if (i == 1 || i == 3 || i == 4)
                continue;
            pthread_join(w[i].thread, NULL);
            ck_assert_int_eq(w[i].result, round % 2 == 0 ? 0 : EPIPE);
        }
        ck_assert_int_eq(fairsem_token_destroy(&token), 0);
        ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

/* A thread that waited gets ECANCELED; a thread that comes after the return gets EINVAL. */
START_TEST(a_return_ends_all_waits_for_the_ticket)
{
    int heard = 0;

    for (int round = 0; heard < 20 * WATCHERS; round++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        fairsem_ticket_t ticket = { 0 };
        struct watcher w[WATCHERS] = { { .how = { 0 } } };

        take(&ticket, &sem, 1);
        start_watchers(w, &ticket);
        for (int i = 0; i < round % 1000; i++)
            moment();      /* if the return comes too early, another round is needed */
        ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
        for (int i = 0; i < WATCHERS; i++) {
            pthread_join(w[i].thread, NULL);
            heard += w[i].result == ECANCELED;
            if (w[i].result != ECANCELED)
                ck_assert_int_eq(w[i].result, EINVAL);
        }
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("ticket_wait", a_wait_for_a_ticket_that_ends_early_keeps_the_place,
              several_threads_can_wait_for_one_ticket, a_return_ends_all_waits_for_the_ticket);
}
