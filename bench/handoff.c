/* SPDX-License-Identifier: MIT */
/*
 * handoff.c - two threads play ping-pong with two semaphores: how long it takes until a
 * sleeping thread runs with the unit it was given.
 */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "peers.h"
#include "pin.h"
#include "progress.h"
#include "report.h"
#include "workloads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { BATCH = 32 }; /* round trips between two looks at the clock */

/* On one core: a condition variable takes a mutex more than a futex does. */
#define GOAL_COND  1.20
#define GOAL_FUTEX 1.05
#ifdef FS_FUTEX_BY_DEFAULT
#define DEFAULT_GOAL GOAL_FUTEX
#define OTHER_GOAL   GOAL_COND
#else
#define DEFAULT_GOAL GOAL_COND
#define OTHER_GOAL   GOAL_FUTEX
#endif

struct game {
    void *ping, *pong;
    int follower_core;
    int64_t warm_up_ns, duration_ns;
    double ns_per_handoff; /* out */
    bool pinned, follower_pinned;
    atomic_bool stop;
};

/*
 * The loops.  ops is a constant where they are instantiated.  The leader alone looks at
 * the clock, and seldom, so that the hand-off is what is measured.
 */
ALWAYS_INLINE void lead(const struct sem_ops *ops, struct game *g)
{
    int64_t start = now_ns(), begin = start, now;
    long rounds = 0;

    do {
        for (int i = 0; i < BATCH; i++) {
            ops->release(g->ping, 1);
            ops->acquire(g->pong, 1);
        }
        rounds += BATCH;
        now = now_ns();
        if (begin == start && now - start >= g->warm_up_ns) {
            begin = now;
            rounds = 0;
        }
    } while (rounds == 0 || now - begin < g->duration_ns);
    g->ns_per_handoff = (double)(now - begin) / (double)rounds / 2;
    atomic_store(&g->stop, true);
    ops->release(g->ping, 1);
}

ALWAYS_INLINE void follow(const struct sem_ops *ops, struct game *g)
{
    for (;;) {
        ops->acquire(g->ping, 1);
        if (atomic_load_explicit(&g->stop, memory_order_relaxed))
            return;
        ops->release(g->pong, 1);
    }
}

#define INSTANCE(peer)                                   \
    static void *lead_##peer(void *arg)                  \
    {                                                    \
        struct game *g = arg;                            \
                                                         \
        g->pinned = pin_self(0);                         \
        lead(&ops_##peer, g);                            \
        return NULL;                                     \
    }                                                    \
                                                         \
    static void *follow_##peer(void *arg)                \
    {                                                    \
        struct game *g = arg;                            \
                                                         \
        g->follower_pinned = pin_self(g->follower_core); \
        follow(&ops_##peer, g);                          \
        return NULL;                                     \
    }
FOR_EACH_PEER(INSTANCE)

#define ENTRY(peer) { &ops_##peer, lead_##peer, follow_##peer },
static const struct {
    const struct sem_ops *ops;
    void *(*lead)(void *);
    void *(*follow)(void *);
} peers[PEERS] = { FOR_EACH_PEER(ENTRY) };

/* One repetition; false if the system has no such semaphore. */
static bool play(int p, struct game *g)
{
    pthread_t leader, follower;
    int err;

    atomic_store(&g->stop, false);
    g->ping = sem_new(peers[p].ops, 0);
    g->pong = sem_new(peers[p].ops, 0);
    if (!g->ping || !g->pong) {
        sem_delete(peers[p].ops, g->ping);
        sem_delete(peers[p].ops, g->pong);
        return false;
    }
    err = pthread_create(&follower, NULL, peers[p].follow, g);
    if (!err)
        err = pthread_create(&leader, NULL, peers[p].lead, g);
    if (err)
        report_die("pthread_create", err);
    pthread_join(leader, NULL);
    pthread_join(follower, NULL);
    sem_delete(peers[p].ops, g->ping);
    sem_delete(peers[p].ops, g->pong);
    return true;
}

static void measure(struct report_table *t, int follower_core, bool quick)
{
    int repetitions = quick ? 3 : 15;
    struct game g = { .follower_core = follower_core };
    bool pinned = true;

    g.warm_up_ns = quick ? NS_PER_MS : 10 * NS_PER_MS;
    g.duration_ns = t->repetition_ns = quick ? 5 * NS_PER_MS : 60 * NS_PER_MS;
    t->workload = "handoff";
    t->unit = "ns per hand-off";
    for (int p = 0; p < PEERS; p++)
        report_row(t, peers[p].ops->name);
    for (int i = 0; i < repetitions; i++) {
        progress_show(t->title, (double)i / repetitions);
        for (int p = 0; p < PEERS; p++) {
            if (play(p, &g))
                t->rows[p].samples[t->rows[p].n++] = g.ns_per_handoff;
            pinned = pinned && g.pinned && g.follower_pinned;
        }
    }
    t->pinning = !pinned ? "not pinned" : follower_core == 0 ? "both threads on core 0"
                                                              : "threads on core 0 and core 1";
    report_table(t);
}

void handoff_run(bool quick)
{
    static struct report_table same, across;

    memset(&same, 0, sizeof(same));
    same.setting = "same-core";
    same.title = "hand-off: two threads in turn, one core";
    if (!pin_possible()) {
        same.setting = "not-pinned";
        same.title = "hand-off: two threads in turn, wherever they run";
    } else {
        report_goal(&same, "fairsem", "sem_t", DEFAULT_GOAL);
        report_goal(&same, OTHER_PARKER_NAME, "sem_t", OTHER_GOAL);
    }
    measure(&same, 0, quick);

    if (!pin_possible() || pin_cores() < 2) {
        report_note("a core for each of the threads: skipped, that is not possible here");
        return;
    }
    memset(&across, 0, sizeof(across));
    across.setting = "two-cores";
    across.title = "hand-off: two threads in turn, a core for each";
    report_goal(&across, "fairsem", "sem_t", 0.10);
    report_goal(&across, OTHER_PARKER_NAME, "sem_t", 0.10);
    measure(&across, 1, quick);
}
