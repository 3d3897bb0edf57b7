/* SPDX-License-Identifier: MIT */
/*
 * fetch-limiter.c - requests of several clients, limited in total and for each client.
 *
 * A fetch needs two units: one of its client's semaphore, which limits the fetches of that client,
 * and one of the common semaphore, which limits the connections to the upstream.
 *
 *   Order     The client's semaphore comes first.  So a greedy client waits in its own queue, and
 *             in the common queue it has no more requests than its limit.  Every request takes the
 *             two units in this order, so there is no deadlock.
 *   Deadline  Each request has one deadline for both waits together.
 *   Hang-up   Canceling a client's token ends the waits of its requests in both queues.
 *   Clean-up  Guards know which units a request has, and release these units when fetch() returns.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fairsem.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONNECTIONS = 4, MOST_REQUESTS = 24 };

struct client {
    const char *name;
    int limit, requests, timeout_ms, result; /* result: what each fetch must return */
    fairsem_t slots;      /* a unit lets one request fetch */
    fairsem_token_t gone; /* canceled when the client hangs up */
    atomic_int fetching, most_at_once, fetched, timed_out, canceled;
    pthread_t threads[MOST_REQUESTS];
};

static fairsem_t connections;
static atomic_int connected, most_connected;

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "fetch-limiter: FAILED: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

/* Count the units in use at once, to check the semaphores. */
static void count_up(atomic_int *counter, atomic_int *most)
{
    int now = atomic_fetch_add(counter, 1) + 1, before = atomic_load(most);

    while (now > before && !atomic_compare_exchange_weak(most, &before, now))
        ;
}

static struct timespec from_now(int ms)
{
    struct timespec t;
    long long ns;

    clock_gettime(CLOCK_MONOTONIC, &t);
    ns = t.tv_nsec + ms * 1000000LL;
    t.tv_sec += ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    return t;
}

/* Returns 0, ETIMEDOUT or ECANCELED. */
static int fetch(struct client *c, const struct timespec *deadline)
{
    fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .deadline = deadline, .token = &c->gone };
    FAIRSEM_SCOPED fairsem_units_t slot = { 0 }; /* released on every way out */
    FAIRSEM_SCOPED fairsem_units_t connection = { 0 };
    int err = fairsem_units_acquire(&slot, &c->slots, 1, &how);

    if (err == 0)
        err = fairsem_units_acquire(&connection, &connections, 1, &how);
    if (err != 0)
        return err;
    count_up(&c->fetching, &c->most_at_once);
    count_up(&connected, &most_connected);
    for (int i = 0; i < 100; i++)
        sched_yield(); /* a real fetch would wait for the network here */
    atomic_fetch_sub(&connected, 1);
    atomic_fetch_sub(&c->fetching, 1);
    return 0;
}

static void *request(void *arg)
{
    struct client *c = arg;
    struct timespec deadline = from_now(c->timeout_ms);
    int err = fetch(c, &deadline);

    check(err == c->result, "the result of a fetch");
    atomic_fetch_add(err == 0 ? &c->fetched : err == ETIMEDOUT ? &c->timed_out : &c->canceled, 1);
    return NULL;
}

static void start(struct client *c)
{
    fairsem_attr_t attr = { .name = c->name, .capacity = c->limit };

    check(fairsem_init(&c->slots, c->limit, &attr) == 0, "fairsem_init");
    check(fairsem_token_init(&c->gone) == 0, "fairsem_token_init");
    for (int i = 0; i < c->requests; i++)
        check(pthread_create(&c->threads[i], NULL, request, c) == 0, "pthread_create");
}

static void finish(struct client *c)
{
    for (int i = 0; i < c->requests; i++)
        pthread_join(c->threads[i], NULL);
    check(fairsem_available(&c->slots) == c->limit && c->most_at_once <= c->limit, c->name);
    printf("%-8s  %5d  %7d  %9d  %9d  %12d\n", c->name, c->limit, c->fetched, c->timed_out,
           c->canceled, c->most_at_once);
    check(fairsem_token_destroy(&c->gone) == 0 && fairsem_destroy(&c->slots) == 0, "destroy");
}

int main(void)
{
    enum { CRAWLER, BROWSER, HASTY, GONE, CLIENTS };
    static struct client c[CLIENTS] = {
        { "crawler", .limit = 6, .requests = 24, .timeout_ms = 60000 },
        { "browser", .limit = 2, .requests = 12, .timeout_ms = 60000 },
        { "hasty", .limit = 2, .requests = 8, .timeout_ms = 20, .result = ETIMEDOUT },
        { "gone", .limit = 3, .requests = 8, .timeout_ms = 60000, .result = ECANCELED },
    };
    fairsem_attr_t attr = { .name = "connections", .capacity = CONNECTIONS };

    /* The upstream is down at first, so every request waits in one of the queues. */
    check(fairsem_init(&connections, 0, &attr) == 0, "fairsem_init");
    printf("client    limit  fetched  timed out   canceled  most at once\n");
    for (int i = 0; i < CLIENTS; i++)
        start(&c[i]);
    finish(&c[HASTY]);
    while (fairsem_waiters(&c[GONE].slots) != c[GONE].requests - c[GONE].limit
           || fairsem_waiters(&connections) != c[CRAWLER].limit + c[BROWSER].limit + c[GONE].limit)
        sched_yield();
    check(fairsem_token_cancel(&c[GONE].gone, 0) == 0, "fairsem_token_cancel");
    check(fairsem_waiters(&c[GONE].slots) == 0, "the requests have left the queue");
    finish(&c[GONE]);
    fairsem_release(&connections, CONNECTIONS); /* the upstream is up */
    finish(&c[CRAWLER]);
    finish(&c[BROWSER]);
    check(most_connected <= CONNECTIONS, "limit in total");
    printf("at most %d of %d connections in use\n", most_connected, CONNECTIONS);
    return 0;
}
