/* SPDX-License-Identifier: MIT */
/*
 * ring.c - many threads want the only unit all the time, and hold it for 2 us: what strict
 * order costs against a ring of threads that hand a token on through bare futexes.
 */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "futex_ring.h"
#include "peers.h"
#include "progress.h"
#include "report.h"
#include "workloads.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define HOLD_NS INT64_C(2000)
enum { MAX_THREADS = FUTEX_RING_MAX_THREADS };

enum phase { WARM_UP, COUNTING, OVER };

struct member {
    _Alignas(128) struct circle *circle;
    pthread_t thread;
    int place;
    /* Written by the thread, read by main after the join. */
    long served;
    int64_t longest_ns;
};

struct circle {
    const struct sem_ops *ops;
    void *sem;
    int threads;
    pthread_mutex_t gate; /* locked until all are there */
    atomic_int phase;
    struct member members[MAX_THREADS];
};

/* Through the pointers: here an indirect call is nothing beside the hold. */
static void *member(void *arg)
{
    struct member *m = arg;
    struct circle *c = m->circle;
    int64_t left, got;
    int phase;

    if (c->ops->sit_down)
        c->ops->sit_down(c->sem, m->place, c->threads);
    pthread_mutex_lock(&c->gate);
    pthread_mutex_unlock(&c->gate);
    left = now_ns();
    do {
        c->ops->acquire(c->sem, 1);
        got = now_ns();
        phase = atomic_load_explicit(&c->phase, memory_order_relaxed);
        m->served += phase == COUNTING;
        /* A wait that the end cut short counts with the length it had. */
        if (phase != WARM_UP && got - left > m->longest_ns)
            m->longest_ns = got - left;
        left = busy_until(got, HOLD_NS);
        c->ops->release(c->sem, 1);
    } while (phase != OVER);
    return NULL;
}

/* One repetition: thousands of holds a second. */
static double turn(struct circle *c, int64_t duration_ns, double *longest, double *least_share)
{
    int64_t start, end;
    long all = 0, least = -1;

    atomic_store(&c->phase, WARM_UP);
    pthread_mutex_lock(&c->gate);
    for (int i = 0; i < c->threads; i++) {
        struct member *m = &c->members[i];
        int err;

        *m = (struct member){ .circle = c, .place = i };
        err = pthread_create(&m->thread, NULL, member, m);
        if (err)
            report_die("pthread_create", err);
    }
    pthread_mutex_unlock(&c->gate);
    sleep_ns(duration_ns / 8);
    start = now_ns();
    atomic_store(&c->phase, COUNTING);
    sleep_ns(duration_ns);
    atomic_store(&c->phase, OVER);
    end = now_ns();
    for (int i = 0; i < c->threads; i++) {
        struct member *m = &c->members[i];

        pthread_join(m->thread, NULL);
        all += m->served;
        if (least < 0 || m->served < least)
            least = m->served;
        /* fmax: the row says NaN as long as nobody has waited */
        *longest = fmax(*longest, (double)m->longest_ns);
    }
    *least_share = all ? (double)least * c->threads / (double)all : 0;
    return (double)all * 1e6 / (double)(end - start);
}

static void measure(int threads, bool quick)
{
    static const struct sem_ops *ops[PEERS + 1];
    static struct report_table t;
    static struct circle c;
    const int repetitions = quick ? 2 : 15;
    char title[80], setting[16];
    int count = 0;

#define ADD(peer) ops[count++] = &ops_##peer;
    FOR_EACH_PEER(ADD)
    if (futex_ring_ops())
        ops[count++] = futex_ring_ops();

    memset(&t, 0, sizeof(t));
    snprintf(setting, sizeof(setting), "%d-threads", threads);
    snprintf(title, sizeof(title), "ring: %d threads, one unit, held %g us", threads,
             (double)HOLD_NS / 1000);
    t.workload = "ring";
    t.setting = setting;
    t.title = title;
    t.unit = "thousand holds a second";
    t.pinning = "not pinned";
    t.repetition_ns = quick ? 8 * NS_PER_MS : 150 * NS_PER_MS;
    t.more_is_better = t.contended = true;
    if (futex_ring_ops()) {
        t.goal_peer = futex_ring_ops()->name;
        t.goal = 0.90;
    }
    c.threads = threads;
    pthread_mutex_init(&c.gate, NULL);
    for (int i = 0; i < repetitions; i++) {
        progress_show(title, (double)i / repetitions);
        for (int p = 0; p < count; p++) {
            struct report_row *row = report_row(&t, ops[p]->name);

            c.ops = ops[p];
            c.sem = sem_new(c.ops, 1);
            if (!c.sem)
                continue;
            row->samples[row->n] =
                turn(&c, t.repetition_ns, &row->longest_wait_ns, &row->least_share[row->n]);
            row->n++;
            sem_delete(c.ops, c.sem);
        }
    }
    pthread_mutex_destroy(&c.gate);
    report_table(&t);
}

void ring_run(bool quick)
{
    static const int threads[] = { 4, 16, 64 };

    for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++)
        measure(threads[i], quick);
    if (!futex_ring_ops())
        report_note("the ring of bare futexes was skipped: there are none on this system");
}
