/* SPDX-License-Identifier: MIT */
/*
 * tenants.c - a server's pool of connections, in which one tenant's flood of requests does not hold up the others.
 *
 * A unit is a connection, and each tenant has a share.  While several tenants have requests in the queue, connections
 * go round between the tenants; how many requests a tenant has does not matter.  A tenant that is alone gets all
 * connections.  A share of weight 2 would get twice as many.
 *
 * The program runs the same requests with shares and without.  Without shares, requests are granted in order of
 * arrival, and the flood came first.
 */
#define _POSIX_C_SOURCE 200809L

#include <fairsem.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CONNECTIONS = 4, MOST_REQUESTS = 64, COUNTED = 24, QUERY_NS = 2000000 };

struct tenant {
    const char *name;
    int requests;
    fairsem_share_t share;
    atomic_int granted;
    double waits_ms[MOST_REQUESTS];
    pthread_t threads[MOST_REQUESTS];
};

static fairsem_t pool, held_back = FAIRSEM_INITIALIZER(0);
static atomic_int queries;
static bool use_shares;
static struct timespec opened;

static void check(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "tenants: FAILED: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static double ms_since(struct timespec t)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t.tv_sec) * 1e3 + (double)(now.tv_nsec - t.tv_nsec) / 1e6;
}

/*
 * Each request makes one query.  All requests are in the queue before the pool opens.  The last CONNECTIONS of
 * the first COUNTED queries release their connections to held_back, not to the pool.  So the pool stands still
 * after COUNTED queries, and main can count them.
 */
static void *request(void *arg)
{
    struct tenant *t = arg;
    fairsem_wait_t how = { .share = use_shares ? &t->share : NULL };
    int number;

    check(fairsem_acquire_with(&pool, 1, &how) == 0, "fairsem_acquire_with");
    t->waits_ms[atomic_fetch_add(&t->granted, 1)] = ms_since(opened);
    nanosleep(&(struct timespec){ .tv_nsec = QUERY_NS }, NULL); /* the query */
    number = atomic_fetch_add(&queries, 1) + 1;
    fairsem_release(number > COUNTED - CONNECTIONS && number <= COUNTED ? &held_back : &pool, 1);
    return NULL;
}

static void start(struct tenant *t)
{
    for (int i = 0; i < t->requests; i++)
        check(pthread_create(&t->threads[i], NULL, request, t) == 0, "pthread_create");
}

static int by_length(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Wait until all requests of the tenant have ended; print its line.
 * counted: how many of the first COUNTED queries are its own.
 */
static void finish(struct tenant *t, int counted)
{
    for (int i = 0; i < t->requests; i++)
        pthread_join(t->threads[i], NULL);
    qsort(t->waits_ms, (size_t)t->requests, sizeof(*t->waits_ms), by_length);
    printf("%-14s  %8d  %15d  %8.1f ms  %4.1f ms\n", t->name, t->requests, counted, t->waits_ms[t->requests / 2],
           t->waits_ms[t->requests - 1]);
    check(fairsem_share_destroy(&t->share) == 0, "fairsem_share_destroy");
}

static void run(void)
{
    struct tenant tenants[] = {
        { "flood", .requests = MOST_REQUESTS, .share = FAIRSEM_SHARE_INITIALIZER(1) },
        { "shop", .requests = 12, .share = FAIRSEM_SHARE_INITIALIZER(1) },
        { "blog", .requests = 12, .share = FAIRSEM_SHARE_INITIALIZER(1) },
    };
    enum { TENANTS = sizeof(tenants) / sizeof(*tenants) };
    const fairsem_attr_t attr = { .name = "connections", .capacity = CONNECTIONS };
    int counted[TENANTS], waiting = 0;

    atomic_store(&queries, 0);
    check(fairsem_init(&pool, 0, &attr) == 0, "fairsem_init");
    for (int i = 0; i < TENANTS; i++) {
        start(&tenants[i]);
        waiting += tenants[i].requests;
        while (fairsem_waiters(&pool) < waiting)
            sched_yield();
    }
    clock_gettime(CLOCK_MONOTONIC, &opened);
    check(fairsem_release(&pool, CONNECTIONS) == 0, "fairsem_release");
    check(fairsem_acquire(&held_back, CONNECTIONS) == 0, "fairsem_acquire");
    for (int i = 0; i < TENANTS; i++)
        counted[i] = atomic_load(&tenants[i].granted);
    check(fairsem_release(&pool, CONNECTIONS) == 0, "fairsem_release");

    printf("%s shares   requests  of the first %d  median wait  longest\n",
           use_shares ? "with   " : "without", COUNTED);
    for (int i = 0; i < TENANTS; i++)
        finish(&tenants[i], counted[i]);
    check(fairsem_available(&pool) == CONNECTIONS && fairsem_destroy(&pool) == 0, "fairsem_destroy");
}

int main(void)
{
    use_shares = true;
    run();
    use_shares = false;
    run();
    return 0;
}
