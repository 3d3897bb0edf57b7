/* SPDX-License-Identifier: MIT */
/*
 * shared.c - semaphores between processes: a pair while nobody waits, the hand-off between two
 * processes, and a hog and its victim.  Order and the death of processes are in shared_lives.c.
 */
#define _GNU_SOURCE

#include "shared_crowd.h"
#include "shared_lives.h"

#include "clock.h"
#include "loops.h"
#include "pin.h"
#include "progress.h"
#include "report.h"
#include "shared_peers.h"
#include "workloads.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

/* One game, in memory that all players share. */
struct game {
    struct shared_sem sems[2];      /* uncontended, victim: only the first */
    struct turns      turns;
    int64_t           duration_ns;
    double            result;
    atomic_bool       over;
};

enum { BATCH = 1024 };      /* pairs between two readings of the clock */

#define INSTANCE(peer)                                                          \
    static int pairs_##peer(void *sem)                                          \
    {                                                                           \
        int failed = 0;                                                         \
                                                                                \
        for (int i = 0; i < BATCH; i++)                                         \
            failed |= ops_##peer.acquire(sem, 1) | ops_##peer.release(sem, 1);  \
        return failed;                                                          \
    }                                                                           \
    static void lead_##peer(void *turns)                                        \
    {                                                                           \
        pin_self(((struct turns *)turns)->cores[LEADER]);                       \
        turns_lead(&ops_##peer, turns);                                         \
    }                                                                           \
    static void follow_##peer(void *turns)                                      \
    {                                                                           \
        pin_self(((struct turns *)turns)->cores[FOLLOWER]);                     \
        turns_follow(&ops_##peer, turns);                                       \
    }
FOR_EACH_SHARED_PEER(INSTANCE)

static const struct peer {
    const struct sem_ops *ops;
    int (*pairs)(void *sem);
    void (*lead)(void *turns);
    void (*follow)(void *turns);
} peers[] = {
#define ENTRY(peer) { &ops_##peer, pairs_##peer, lead_##peer, follow_##peer },
    FOR_EACH_SHARED_PEER(ENTRY)
};
enum { SHARED_PEERS = sizeof(peers) / sizeof(*peers) };

/* ---- Uncontended ---- */

static const struct peer *playing;

static void run_pairs(void *arg)
{
    struct game *g = arg;

    pin_self(0);
    shared_enter(&g->sems[0]);
    g->result = loop_batches(playing->pairs, &g->sems[0], BATCH, g->duration_ns);
}

static double play_pairs(struct game *g)
{
    shared_make(&g->sems[0], playing->ops, 1);
    shared_join(shared_start(run_pairs, g));
    shared_destroy(&g->sems[0]);
    return g->result;
}

/* ---- Hand-off: one process releases what the other acquired, so without undo ---- */

static double play_handoff(struct game *g)
{
    pid_t follower;

    for (int i = 0; i < 2; i++) {
        shared_make(&g->sems[i], playing->ops, 0);
        g->turns.sems[i] = &g->sems[i];
    }
    g->turns.warm_up_ns = g->duration_ns / 5;
    g->turns.duration_ns = g->duration_ns;
    atomic_store(&g->turns.stop, false);
    follower = shared_start(playing->follow, &g->turns);
    shared_join(shared_start(playing->lead, &g->turns));
    shared_join(follower);
    for (int i = 0; i < 2; i++)
        shared_destroy(&g->sems[i]);
    return g->turns.ns_per_handoff;
}

/* ---- Hog and victim ---- */

#define HOLD_NS (200 * NS_PER_US)

static void run_hog(void *arg)
{
    struct game *g = arg;
    struct shared_sem *s = &g->sems[0];
    int64_t begin = now_ns(), now;

    pin_self(0);
    shared_enter(s);
    do {
        s->ops->acquire(s, 1);
        now = busy_until(now_ns(), HOLD_NS);
        s->ops->release(s, 1);
    } while (now - begin < g->duration_ns);
    atomic_store(&g->over, true);
}

/* The result is its longest wait. */
static void run_victim(void *arg)
{
    struct game *g = arg;
    struct shared_sem *s = &g->sems[0];

    pin_self(1);
    shared_enter(s);
    while (!atomic_load(&g->over)) {
        int64_t begin, waited;

        sleep_ns(NS_PER_MS);
        begin = now_ns();
        s->ops->acquire(s, 1);
        waited = now_ns() - begin;
        s->ops->release(s, 1);
        if ((double)waited > g->result)
            g->result = (double)waited;
    }
}

static double play_victim(struct game *g)
{
    pid_t hog, victim;

    g->result = 0;
    atomic_store(&g->over, false);
    shared_make(&g->sems[0], playing->ops, 1);
    hog = shared_start(run_hog, g);
    victim = shared_start(run_victim, g);
    shared_join(hog);
    shared_join(victim);
    shared_destroy(&g->sems[0]);
    return g->result / (double)NS_PER_MS;
}

/* ---- Tables ---- */

#define WITH_LOCKS &ops_undo, &ops_sem_t, &ops_semop_undo, &ops_flock, &ops_fcntl

struct goal {
    const struct sem_ops *ours, *peer;
    double                most;     /* 0: there is no goal */
};

static const struct setting {
    const char *name, *title, *unit, *pinning;
    double    (*play)(struct game *g);
    const struct sem_ops *kinds[SHARED_PEERS];
    int         cores[2];
    int64_t     duration_ns;
    struct goal goals[2];
} settings[] = {
    { "uncontended", "shared: acquire + release of the only unit, while nobody waits",
      "ns per pair", "one process on core 0", play_pairs, { WITH_LOCKS, &ops_no_undo },
      { 0, 0 }, 10 * NS_PER_MS,
      { { &ops_undo, &ops_semop_undo, 0.30 }, { &ops_no_undo, &ops_sem_t, 1.10 } } },
    { "same-core", "shared: hand-off between two processes, one core", "ns per hand-off",
      "both on core 0", play_handoff, { &ops_no_undo, &ops_sem_t, &ops_semop },
      { 0, 0 }, 25 * NS_PER_MS, { { &ops_no_undo, &ops_sem_t, 1.5 } } },
    { "two-cores", "shared: hand-off between two processes, a core for each", "ns per hand-off",
      "on core 0 and core 1", play_handoff, { &ops_no_undo, &ops_sem_t, &ops_semop },
      { 0, 1 }, 25 * NS_PER_MS, { { &ops_no_undo, &ops_sem_t, 0.2 } } },
    { "victim",
      "shared: the longest wait beside a process that holds the unit for 0.2 ms at a time",
      "ms, longest wait", "hog on core 0, victim on core 1", play_victim, { WITH_LOCKS },
      { 0, 1 }, 500 * NS_PER_MS, { { &ops_undo, NULL, 10 } } },
};

static bool takes_part(const struct setting *s, const struct sem_ops *ops)
{
    for (int i = 0; i < SHARED_PEERS; i++) {
        if (s->kinds[i] == ops)
            return true;
    }
    return false;
}

static void measure(const struct setting *s, struct game *g, bool quick)
{
    static struct report_table t;
    const int repetitions = quick ? 2 : 15;

    report_table_begin(&t, "shared", s->name, s->title, s->unit);
    t.repetition_ns = g->duration_ns = quick ? s->duration_ns / 10 : s->duration_ns;
    if (pin_possible())
        t.pinning = s->pinning;
    for (int i = 0; i < 2; i++) {
        const struct goal *goal = &s->goals[i];

        g->turns.cores[i] = s->cores[i];
        if (goal->peer)
            report_goal(&t, goal->ours->name, goal->peer->name, goal->most);
    }
    for (int i = 0; i < repetitions; i++) {
        progress_show(s->title, (double)i / repetitions);
        for (playing = peers; playing < peers + SHARED_PEERS; playing++) {
            if (takes_part(s, playing->ops))
                report_add(&t, playing->ops->name, s->play(g));
        }
    }
    report_table(&t);
    /* A goal without a peer is for the worst repetition, not for the median. */
    for (int i = 0; i < 2; i++) {
        if (s->goals[i].most > 0 && !s->goals[i].peer)
            shared_longest(&t, "victim-longest", s->goals[i].ours->name, s->goals[i].most);
    }
}

void shared_run(bool quick)
{
    struct game *g = shared_memory(sizeof *g);

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (settings[i].cores[1] == 0 || (pin_possible() && pin_cores() > 1))
            measure(&settings[i], g, quick);
        else
            report_note("two processes on two cores: skipped, that is not possible here");
    }
    shared_lives_run(quick);
    shared_crowd_run(quick);
}
