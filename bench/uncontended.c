/* SPDX-License-Identifier: MIT */
/*
 * uncontended.c - acquire and release while nobody waits: the cost that every user pays.
 *
 * The loop runs in a thread of its own while main sleeps in pthread_join.  In a process with a
 * single thread glibc would take cheaper, non-atomic paths; but programs that need a semaphore
 * have several threads.
 */
#define _GNU_SOURCE /* sem_clockwait */

#include "die.h"
#include "loops.h"
#include "peers.h"
#include "pin.h"
#include "progress.h"
#include "report.h"
#include "workloads.h"

#include <string.h>

enum how { ACQUIRE, TRY, UNTIL, FOR };
enum { BATCH = 4096 }; /* pairs between two readings of the clock */

#define FAR_OFF (3600 * NS_PER_S) /* no wait lasts that long */

struct calls {
    enum how how;
    void *sem;
    int64_t n;
    struct timespec realtime, monotonic; /* deadlines */
};

/* The loop.  ops and how are constants where it is instantiated, so no indirect call is left. */
ALWAYS_INLINE int pairs(const struct sem_ops *ops, enum how how, const struct calls *c)
{
    void *const sem = c->sem;
    const int64_t n = c->n;
    int failed = 0;

    for (int i = 0; i < BATCH; i++) {
        if (how == ACQUIRE)
            failed |= ops->acquire(sem, n);
        else if (how == TRY)
            failed |= ops->try_acquire(sem, n);
        else if (how == UNTIL)
            failed |= ops->acquire_until(sem, n, &c->realtime);
        else
            failed |= ops->acquire_for(sem, n, FAR_OFF, &c->monotonic);
        failed |= ops->release(sem, n);
    }
    return failed;
}

#define INSTANCE(peer)                                              \
    static int pairs_##peer(void *arg)                              \
    {                                                               \
        const struct calls *c = arg;                                \
                                                                    \
        switch (c->how) {                                           \
        case ACQUIRE: return pairs(&ops_##peer, ACQUIRE, c);        \
        case TRY: return pairs(&ops_##peer, TRY, c);                \
        case UNTIL: return pairs(&ops_##peer, UNTIL, c);            \
        default: return pairs(&ops_##peer, FOR, c);                 \
        }                                                           \
    }
FOR_EACH_PEER(INSTANCE)

#define ENTRY(peer) { &ops_##peer, pairs_##peer },
static const struct {
    const struct sem_ops *ops;
    int (*pairs)(void *calls);
} peers[PEERS] = { FOR_EACH_PEER(ENTRY) };

static const struct setting {
    const char *name, *title;
    enum how how;
    int64_t n;
    double goal; /* against sem_t; 0: none */
} settings[] = {
    { "acquire-1", "uncontended: acquire + release of 1 unit", ACQUIRE, 1, 1.03 },
    { "acquire-7", "uncontended: acquire + release of 7 units (sem_t, C++20: of 1)", ACQUIRE, 7,
      1.03 },
    { "try-1", "uncontended: try + release of 1 unit", TRY, 1, 1.0 },
    { "for-1", "uncontended: acquire_for + release of 1 unit", FOR, 1, 1.05 },
    { "until-1", "uncontended: acquire with a realtime deadline + release of 1 unit", UNTIL, 1,
      0 },
};
enum { SETTINGS = sizeof(settings) / sizeof(*settings) };

struct job {
    struct report_table tables[SETTINGS];
    int repetitions;
    bool pinned;
};

/* Returns nanoseconds per pair, over one repetition. */
static double measure(int peer, const struct setting *s, void *sem, int64_t repetition_ns)
{
    struct calls c = { .how = s->how, .sem = sem, .n = peers[peer].ops->many ? s->n : 1 };

    c.realtime = timespec_of(clock_ns(CLOCK_REALTIME) + FAR_OFF);
    c.monotonic = timespec_of(now_ns() + FAR_OFF);
    return loop_batches(peers[peer].pairs, &c, BATCH, repetition_ns);
}

static bool has(const struct sem_ops *ops, enum how how)
{
    return !(how == UNTIL && !ops->acquire_until) && !(how == FOR && !ops->acquire_for);
}

static void measure_setting(struct job *job, int which)
{
    const struct setting *s = &settings[which];
    struct report_table *t = &job->tables[which];
    void *sems[PEERS];

    for (int p = 0; p < PEERS; p++) {
        sems[p] = sem_new(peers[p].ops, 10);
        report_row(t, peers[p].ops->name);
        if (!has(peers[p].ops, s->how)) {
            sem_delete(peers[p].ops, sems[p]);
            sems[p] = NULL;
        }
    }
    for (int i = 0; i < job->repetitions; i++) {
        progress_show(t->title, (double)i / job->repetitions);
        for (int p = 0; p < PEERS; p++) {
            if (sems[p])
                report_add(t, peers[p].ops->name, measure(p, s, sems[p], t->repetition_ns));
        }
    }
    for (int p = 0; p < PEERS; p++)
        sem_delete(peers[p].ops, sems[p]);
}

static void *run(void *arg)
{
    struct job *job = arg;

    job->pinned = pin_self(0);
    for (int i = 0; i < SETTINGS; i++)
        measure_setting(job, i);
    return NULL;
}

void uncontended_run(bool quick)
{
    static struct job job;
    pthread_t thread;

    memset(&job, 0, sizeof(job));
    job.repetitions = quick ? 3 : 41;
    for (int i = 0; i < SETTINGS; i++) {
        struct report_table *t = &job.tables[i];

        report_table_begin(t, "uncontended", settings[i].name, settings[i].title, "ns per pair");
        t->repetition_ns = quick ? NS_PER_MS : 10 * NS_PER_MS;
        if (settings[i].goal != 0)
            report_goal(t, "fairsem", "sem_t", settings[i].goal);
    }
    start_thread(&thread, run, &job);
    pthread_join(thread, NULL);
    for (int i = 0; i < SETTINGS; i++) {
        job.tables[i].pinning = job.pinned ? "one thread on core 0, main asleep"
                                           : "one thread, not pinned, main asleep";
        report_table(&job.tables[i]);
    }
}
