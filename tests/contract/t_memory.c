/* SPDX-License-Identifier: MIT */
/* t_memory.c - a thread that gets units sees all writes of their releaser before the release. */
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include <errno.h>

/* Data that goes from thread to thread with a unit, on the fast and on the contended path. */
struct parcel {
    fairsem_t full, empty;
    long      content;      /* not atomic: the semaphores must order it */
    long      sum, count;
};

static void *consume_parcels(void *arg)
{
    struct parcel *p = arg;

    for (long i = 0; i < p->count; i++) {
        if (i % 2 != 0 || fairsem_tryacquire(&p->full, 1) != 0)
            insist(0, fairsem_acquire(&p->full, 1));
        p->sum += p->content;
        fairsem_release(&p->empty, 1);
    }
    return NULL;
}

START_TEST(what_the_releaser_wrote_is_seen_by_the_acquirer)
{
    struct parcel p = { .full = FAIRSEM_INITIALIZER(0), .empty = FAIRSEM_INITIALIZER(1),
                        .count = (long)stress_times(4000) };
    pthread_t thread;

    start_thread(&thread, consume_parcels, &p);
    for (long i = 0; i < p.count; i++) {
        ck_assert_int_eq(fairsem_acquire(&p.empty, 1), 0);
        p.content = i;
        fairsem_release(&p.full, 1);
    }
    pthread_join(thread, NULL);
    ck_assert_int_eq(p.sum, p.count * (p.count - 1) / 2);
}
END_TEST

struct message {
    fairsem_t sem;
    int       text;         /* not atomic: sent with the unit */
};

static void *send(void *arg)
{
    struct message *m = arg;

    m->text = 4711;
    fairsem_release(&m->sem, 1);
    return NULL;
}

START_TEST(the_claiming_thread_sees_what_the_releaser_wrote)
{
    for (int i = 0; i < 100; i++) {
        struct message m = { .text = 0 };
        fairsem_ticket_t ticket = { 0 };
        fairsem_units_t units = { 0 };
        pthread_t thread;

        ck_assert_int_eq(fairsem_init(&m.sem, 0, NULL), 0);
        ck_assert_int_eq(fairsem_ticket_take(&ticket, &m.sem, 1, 0, NULL, NULL), EINPROGRESS);
        start_thread(&thread, send, &m);
        while (fairsem_ticket_claim(&ticket, &units) == EAGAIN)
            moment();
        ck_assert_int_eq(m.text, 4711);
        pthread_join(thread, NULL);
        ck_assert_int_eq(units.n, 1);
        ck_assert_int_eq(fairsem_destroy(&m.sem), 0);
    }
}
END_TEST

/* After the drain, its caller must see what each thread wrote while that thread held a unit. */
enum { THREADS = 4, ROUNDS = 100 };
static fairsem_t pool;
static int written[THREADS];        /* not atomic: ThreadSanitizer finds a missing order */

static void *use_pool(void *arg)
{
    int *mine = arg;

    while (fairsem_acquire(&pool, 1) == 0) {
        (*mine)++;
        if (fairsem_release(&pool, 1) != 0)
            break;
    }
    return NULL;
}

START_TEST(a_drain_sees_what_the_holders_wrote)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread[THREADS];
        int sum = 0;

        pool = (fairsem_t)FAIRSEM_INITIALIZER(2);
        for (int i = 0; i < THREADS; i++)
            start_thread(&thread[i], use_pool, &written[i]);
        ck_assert_int_eq(fairsem_drain(&pool, 2, NULL), 0);
        for (int i = 0; i < THREADS; i++)
            sum += written[i];
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
        for (int i = 0; i < THREADS; i++)
            sum -= written[i];
        ck_assert_int_eq(sum, 0);
        ck_assert_int_eq(fairsem_destroy(&pool), 0);
    }
}
END_TEST

struct counter {
    fairsem_t sem;
    int64_t   count;        /* not atomic: the unit protects it */
};

#define COUNTS 5000

static void *count_up(void *arg)
{
    struct counter *c = arg;

    for (int i = 0; i < COUNTS; i++) {
        if (i % 2 == 0 || fairsem_tryacquire(&c->sem, 1) != 0)
            insist(0, fairsem_acquire(&c->sem, 1));
        c->count++;
        fairsem_release(&c->sem, 1);
    }
    return NULL;
}

/* With bounded bypass: the holder of the only unit sees all writes of earlier holders. */
START_TEST(one_unit_excludes_threads_and_orders_memory)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = 100000 };
    struct counter c = { .count = 0 };
    pthread_t thread[4];

    ck_assert_int_eq(fairsem_init(&c.sem, 1, &attr), 0);
    for (int i = 0; i < 4; i++)
        start_thread(&thread[i], count_up, &c);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(c.count, 4 * COUNTS);
    ck_assert_int_eq(fairsem_available(&c.sem), 1);
    ck_assert_int_eq(fairsem_waiters(&c.sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("memory", what_the_releaser_wrote_is_seen_by_the_acquirer,
              the_claiming_thread_sees_what_the_releaser_wrote,
              a_drain_sees_what_the_holders_wrote, one_unit_excludes_threads_and_orders_memory);
}
