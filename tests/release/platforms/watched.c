/* SPDX-License-Identifier: MIT */
/*
 * watched.c - a program that uses the library, correct or racy, for race detectors: see watched.sh.
 *
 *     watched             a thread accesses data only while it has the unit: nothing to report
 *     watched racy        each datum is accessed once after the release, too: one report for each
 *
 * For each way to acquire, a function of its own accesses the data; its name identifies the report.  The second
 * thread acquires after the first one has released, or waits for the first one.  All other communication
 * between the threads is relaxed, and orders nothing.
 */
#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>

#include <fairsem.h>
#include <fairsem/posix.h>

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_INLINE __attribute__((noinline))

static int racy;

static void check(int ok)
{
    if (!ok)
        abort();
}

/* ---- Steps of the threads.  No tool reports a read-modify-write as a race. ---- */

static atomic_int step;

static void begin_steps(void)
{
    atomic_exchange_explicit(&step, 0, memory_order_relaxed);
}

static void next_step(void)
{
    atomic_fetch_add_explicit(&step, 1, memory_order_relaxed);
}

static void await_step(int number)
{
    while (atomic_fetch_add_explicit(&step, 0, memory_order_relaxed) < number)
        sched_yield();
}

/* ---- The ways to acquire ---- */

struct way {
    const char *name;
    int  (*init)(fairsem_t *sem);
    void (*section)(fairsem_t *sem, void (*inside)(void *), void *arg);
    void (*touch)(void);
};

static int init_plainly(fairsem_t *sem)
{
    return fairsem_init(sem, 1, NULL);
}

static int init_interruptible(fairsem_t *sem)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_INTERRUPTIBLE };

    return fairsem_init(sem, 1, &attr);
}

static int init_bypassed(fairsem_t *sem)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = 1000000 };

    return fairsem_init(sem, 1, &attr);
}

static int init_bounded(fairsem_t *sem)
{
    const fairsem_attr_t attr = { .capacity = 1, .name = "bounded" };

    return fairsem_init(sem, 1, &attr);
}

static int init_statically(fairsem_t *sem)
{
    const fairsem_t fresh = FAIRSEM_INITIALIZER(1);

    memcpy(sem, &fresh, sizeof fresh);  /* a copy of a new semaphore is a new semaphore */
    return 0;
}

static void by_acquire(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    check(fairsem_acquire(sem, 1) == 0);
    inside(arg);
    check(fairsem_release(sem, 1) == 0);
}

static void by_try(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    while (fairsem_tryacquire(sem, 1) != 0)
        sched_yield();
    inside(arg);
    check(fairsem_release(sem, 1) == 0);
}

static void by_upto(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    while (fairsem_tryacquire_upto(sem, 2) != 1)
        sched_yield();
    inside(arg);
    check(fairsem_release(sem, 1) == 0);
}

static void by_acquire_for(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    check(fairsem_acquire_for(sem, 1, INT64_C(60000000000)) == 0);
    inside(arg);
    check(fairsem_release(sem, 1) == 0);
}

static fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;

static void by_guard(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    const fairsem_wait_t how = { .priority = 3, .token = &token };
    fairsem_units_t units = { 0 };

    check(fairsem_units_acquire(&units, sem, 1, &how) == 0);
    inside(arg);
    check(fairsem_units_release(&units) == 0);
}

static void by_with(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    check(fairsem_with(sem, 1, inside, arg) == 0);
}

/* Acquire together with a second semaphore, which has units for all threads. */
static void by_all(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    static fairsem_t beside = FAIRSEM_INITIALIZER(4);
    const fairsem_request_t both[] = { { sem, 1, NULL }, { &beside, 1, NULL } };

    check(fairsem_acquire_all(both, 2, NULL) == 0);
    inside(arg);
    check(fairsem_release_all(both, 2) == 0);
}

static void by_posix(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    sem_t *posix = (sem_t *)(void *)sem;
    struct timespec end = { .tv_sec = INT32_MAX };

    check(sem_timedwait(posix, &end) == 0);
    inside(arg);
    check(sem_post(posix) == 0);
}

/* A callback, which runs in the thread that releases. */
static void granted(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    atomic_fetch_add_explicit((atomic_int *)arg, 1, memory_order_relaxed);
}

static void by_ticket(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    fairsem_ticket_t ticket;
    fairsem_units_t units = { 0 };
    atomic_int calls = 0;
    int error;

    memset(&ticket, 0, sizeof ticket);
    error = fairsem_ticket_take(&ticket, sem, 1, 0, granted, &calls);
    check(error == 0 || error == EINPROGRESS);
    while (error == EINPROGRESS && atomic_fetch_add_explicit(&calls, 0, memory_order_relaxed) == 0)
        sched_yield();
    check(fairsem_ticket_wait(&ticket, NULL) == 0);
    check(fairsem_ticket_state(&ticket) == FAIRSEM_TICKET_GRANTED);
    inside(arg);
    check(fairsem_ticket_claim(&ticket, &units) == 0);
    check(fairsem_units_release(&units) == 0);
    check(fairsem_ticket_return(&ticket) == 0);
}

/* Only the claim tells the thread of the grant. */
static void by_claim(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    fairsem_ticket_t ticket;
    fairsem_units_t units = { 0 };
    int error;

    memset(&ticket, 0, sizeof ticket);
    error = fairsem_ticket_take(&ticket, sem, 1, 0, NULL, NULL);
    check(error == 0 || error == EINPROGRESS);
    while ((error = fairsem_ticket_claim(&ticket, &units)) == EAGAIN)
        sched_yield();
    check(error == 0);
    inside(arg);
    check(fairsem_units_release(&units) == 0);
}

/* All threads are one client.  They also charge its share while they have no request in the queue. */
static fairsem_share_t client = FAIRSEM_SHARE_INITIALIZER(2);

static void by_share(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    const fairsem_wait_t how = { .share = &client };

    check(fairsem_acquire_with(sem, 1, &how) == 0);
    inside(arg);
    check(fairsem_release(sem, 1) == 0);
    check(fairsem_share_charge(&client, 1) == 0);
}

/* The tools see this share only as an argument of requests. */
static fairsem_share_t of_tickets = FAIRSEM_SHARE_INITIALIZER(1);

static void by_take_with(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    const fairsem_request_t request = { sem, 1, &of_tickets };
    fairsem_ticket_t ticket;
    fairsem_units_t units = { 0 };
    int error;

    memset(&ticket, 0, sizeof ticket);
    error = fairsem_ticket_take_with(&ticket, &request, 0, NULL, NULL);
    check(error == 0 || error == EINPROGRESS);
    check(fairsem_ticket_wait(&ticket, NULL) == 0 && fairsem_ticket_claim(&ticket, &units) == 0);
    inside(arg);
    check(fairsem_units_release(&units) == 0);
}

/* Each thread has its own share, and destroys the share when its acquire has returned. */
static void by_own_share(fairsem_t *sem, void (*inside)(void *), void *arg)
{
    fairsem_share_t own;
    const fairsem_wait_t how = { .share = &own };

    check(fairsem_share_init(&own, 1) == 0);
    check(fairsem_acquire_with(sem, 1, &how) == 0 && fairsem_share_destroy(&own) == 0);
    inside(arg);
    check(fairsem_release(sem, 1) == 0);
}

#define TOUCH(name)                                                                        \
    static long data_##name;                                                               \
    static NOT_INLINE void touch_##name(void)                                              \
    {                                                                                      \
        data_##name++;                                                                     \
    }
TOUCH(static) TOUCH(init) TOUCH(interruptible) TOUCH(bypassed) TOUCH(bounded) TOUCH(try)
TOUCH(upto) TOUCH(for) TOUCH(guard) TOUCH(with) TOUCH(all) TOUCH(posix) TOUCH(ticket) TOUCH(claim)
TOUCH(callback) TOUCH(share) TOUCH(taken) TOUCH(owned)

static const struct way ways[] = {
    { "static", init_statically, by_acquire, touch_static },
    { "init", init_plainly, by_acquire, touch_init },
    { "interruptible", init_interruptible, by_acquire, touch_interruptible },
    { "bypassed", init_bypassed, by_acquire, touch_bypassed },
    { "bounded", init_bounded, by_acquire, touch_bounded },
    { "try", init_statically, by_try, touch_try },
    { "upto", init_plainly, by_upto, touch_upto },
    { "for", init_statically, by_acquire_for, touch_for },
    { "guard", init_plainly, by_guard, touch_guard },
    { "with", init_plainly, by_with, touch_with },
    { "all", init_plainly, by_all, touch_all },
    { "posix", NULL, by_posix, touch_posix },
    { "ticket", init_plainly, by_ticket, touch_ticket },
    { "claim", init_plainly, by_claim, touch_claim },
    { "share", init_plainly, by_share, touch_share },
    { "take_with", init_plainly, by_take_with, touch_taken },
    { "own share", init_plainly, by_own_share, touch_owned },
};

/* ---- One thread after the other ---- */

struct meeting {
    const struct way *way;
    fairsem_t         sem;
    int               waits;    /* the second thread waits for the first one */
};

static void first_inside(void *arg)
{
    struct meeting *m = arg;

    next_step();
    while (m->waits && fairsem_waiters(&m->sem) == 0)
        sched_yield();
    m->way->touch();
}

static void *first(void *arg)
{
    struct meeting *m = arg;

    m->way->section(&m->sem, first_inside, m);
    if (racy)
        m->way->touch();
    next_step();
    return NULL;
}

static void second_inside(void *arg)
{
    ((struct meeting *)arg)->way->touch();
}

static void *second(void *arg)
{
    struct meeting *m = arg;

    await_step(m->waits ? 1 : 2);
    m->way->section(&m->sem, second_inside, m);
    return NULL;
}

/* A third thread, which only inspects the semaphore, from the beginning to the end. */
static void *inspect(void *arg)
{
    struct meeting *m = arg;
    fairsem_stat_t stat;

    do {
        check(fairsem_stat(&m->sem, &stat) == 0);
        (void)(fairsem_available(&m->sem) + fairsem_waiters(&m->sem) + fairsem_capacity(&m->sem));
        (void)(fairsem_would_block(&m->sem, 1) || fairsem_closed(&m->sem));
        sched_yield();
    } while (atomic_fetch_add_explicit(&step, 0, memory_order_relaxed) < 2);
    return NULL;
}

static void meet(const struct way *way, int waits)
{
    static struct meeting m;
    void *(*const run[])(void *) = { first, second, inspect };
    pthread_t thread[3];

    m.way = way;
    m.waits = waits;
    if (way->init != NULL)
        check(way->init(&m.sem) == 0);
    else
        check(sem_init((sem_t *)(void *)&m.sem, 0, 1) == 0);
    begin_steps();
    for (int i = 0; i < 3; i++)
        check(pthread_create(&thread[i], NULL, run[i], &m) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    check(fairsem_destroy(&m.sem) == 0);
}

/* ---- Many threads at once; waits that time out or are canceled ---- */

static fairsem_t crowded = FAIRSEM_INITIALIZER(1);
static long in_crowd;

static void *crowd(void *arg)
{
    fairsem_t *sem = arg;

    for (int i = 0; i < 200; i++) {
        if (i % 8 == 0 && fairsem_acquire_for(sem, 1, 1000) == ETIMEDOUT)
            continue;
        if (i % 8 != 0)
            check(fairsem_acquire(sem, 1) == 0);
        in_crowd++;
        check(fairsem_release(sem, 1) == 0);
    }
    return arg;
}

static void count_in(void *counter)
{
    sched_yield();          /* so that others wait */
    ++*(long *)counter;
}

/* The library checks a share without the mutex, while a request of another thread may be granted. */
static void *crowd_of_a_client(void *arg)
{
    for (int i = 0; i < 100; i++) {
        by_share(arg, count_in, &in_crowd);
        by_take_with(arg, count_in, &in_crowd);
        by_own_share(arg, count_in, &in_crowd);
    }
    return arg;
}

/*
 * What the library learns about the whole process is not protected by the mutex of one semaphore.  So two
 * semaphores have preempted hand-offs at the same time: short holds, and then some long ones.
 */
static void *hold_long_now_and_then(void *arg)
{
    fairsem_t *sem = arg;
    const struct timespec some_ms = { .tv_nsec = 3000000 };

    for (int i = 0; i < 60; i++) {
        check(fairsem_acquire(sem, 1) == 0);
        if (i >= 30 && i % 3 == 0)
            nanosleep(&some_ms, NULL);
        check(fairsem_release(sem, 1) == 0);
    }
    return NULL;
}

static void late_grants(void)
{
    fairsem_t sem[2] = { FAIRSEM_INITIALIZER(1), FAIRSEM_INITIALIZER(1) };
    pthread_t thread[6];

    for (int i = 0; i < 6; i++)
        check(pthread_create(&thread[i], NULL, hold_long_now_and_then, &sem[i % 2]) == 0);
    for (int i = 0; i < 6; i++)
        pthread_join(thread[i], NULL);
}

static void *wait_in_vain(void *arg)
{
    const fairsem_wait_t how = { .token = &token };

    check(fairsem_acquire_with(arg, 1, &how) == ECANCELED);
    return NULL;
}

static void crowds(void)
{
    fairsem_t none = FAIRSEM_INITIALIZER(0), divided = FAIRSEM_INITIALIZER(1);
    pthread_t thread[4];

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++)
            check(pthread_create(&thread[i], NULL, crowd, &crowded) == 0);
        for (int i = 0; i < 4; i++)
            pthread_join(thread[i], NULL);
        check(fairsem_destroy(&crowded) == 0 && init_bypassed(&crowded) == 0);
    }
    for (int i = 0; i < 4; i++)
        check(pthread_create(&thread[i], NULL, crowd_of_a_client, &divided) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    check(fairsem_share_destroy(&client) == 0 && fairsem_share_init(&client, 1) == 0);

    for (int i = 0; i < 4; i++) {
        check(pthread_create(&thread[i], NULL, wait_in_vain, &none) == 0);
        while (fairsem_waiters(&none) != i + 1)
            sched_yield();
    }
    pthread_cancel(thread[0]);
    pthread_join(thread[0], NULL);
    check(fairsem_token_cancel(&token, 0) == 0);
    for (int i = 1; i < 4; i++)
        pthread_join(thread[i], NULL);
    check(fairsem_close(&none, 0) == 0 && fairsem_destroy(&none) == 0);
}

/* ---- A sem_t that is all zero: either thread may come first ---- */

enum { ZEROED = 100 };

static sem_t zeroed[ZEROED];
static int   posted[ZEROED];

static void *post_each(void *arg)
{
    for (int i = 0; i < ZEROED; i++) {
        posted[i] = i;
        check(sem_post(&zeroed[i]) == 0);
    }
    return arg;
}

static void *wait_for_each(void *arg)
{
    for (int i = 0; i < ZEROED; i++) {
        check(sem_wait(&zeroed[i]) == 0);
        check(posted[i] == i);
    }
    return arg;
}

static void first_uses(void)
{
    pthread_t thread[2];

    check(pthread_create(&thread[0], NULL, wait_for_each, NULL) == 0);
    check(pthread_create(&thread[1], NULL, post_each, NULL) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < ZEROED; i++)
        check(sem_destroy(&zeroed[i]) == 0);
}

/* ---- A callback is the program's code: its races are reported ---- */

static void touch_in_callback(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    (void)arg;
    touch_callback();
}

static void *release_to_ticket(void *arg)
{
    check(fairsem_release(arg, 1) == 0);
    return NULL;
}

static void callback(void)
{
    static fairsem_t none = FAIRSEM_INITIALIZER(0);
    static fairsem_ticket_t ticket;
    pthread_t thread;

    check(fairsem_ticket_take(&ticket, &none, 1, 0, touch_in_callback, NULL) == EINPROGRESS);
    check(pthread_create(&thread, NULL, release_to_ticket, &none) == 0);
    if (racy)
        touch_callback();
    pthread_join(thread, NULL);
    check(fairsem_ticket_return(&ticket) == 0);
    touch_callback();
}

int main(int argc, char **argv)
{
    racy = argc == 2 && strcmp(argv[1], "racy") == 0;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        /* A try never waits, so the second thread only comes after the first. */
        int shapes = ways[i].section == by_try || ways[i].section == by_upto ? 1 : 2;

        for (int round = 0; round < 2 * shapes; round++)
            meet(&ways[i], round % shapes);
        puts(ways[i].name);
    }
    callback();
    puts("callback");
    crowds();
    late_grants();
    first_uses();
    return 0;
}
