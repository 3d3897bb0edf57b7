/* SPDX-License-Identifier: MIT */
/*
 * shared.c - semaphores between processes: a pair while nobody waits, the hand-off between two
 * processes, and a hog and its victim.  Order and the death of processes are in shared_lives.c.
 */
#define _GNU_SOURCE

#include "shared_lives.h"

#include "clock.h"
#include "die.h"
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
    int64_t           duration_ns;
    double            result;
    int               cores[2];
    atomic_bool       over;
};

/* ---- Uncontended ---- */

enum { BATCH = 1024 };      /* pairs between two readings of the clock */

ALWAYS_INLINE void pairs(enum shared_kind kind, struct game *g)
{
    int64_t start = now_ns(), now;
    long batches = 0;
    int failed = 0;

    do {
        for (int i = 0; i < BATCH; i++) {
            failed |= shared_acquire(kind, &g->sems[0]);
            failed |= shared_release(kind, &g->sems[0]);
        }
        batches++;
        now = now_ns();
    } while (now - start < g->duration_ns);
    if (failed)
        die("an acquire or release that cannot fail has failed", 0);
    g->result = (double)(now - start) / (double)batches / BATCH;
}

static void run_pairs(void *arg)
{
    struct game *g = arg;

    pin_self(0);
    shared_enter(&g->sems[0]);
    switch (g->sems[0].kind) {
    case FAIR_UNDO:    pairs(FAIR_UNDO, g); break;
    case FAIR_NO_UNDO: pairs(FAIR_NO_UNDO, g); break;
    case SEM_T:        pairs(SEM_T, g); break;
    case SEMOP_UNDO:   pairs(SEMOP_UNDO, g); break;
    case LOCK_FLOCK:   pairs(LOCK_FLOCK, g); break;
    case LOCK_FCNTL:   pairs(LOCK_FCNTL, g); break;
    default: die("no such kind", 0);
    }
}

static double play_pairs(struct game *g, enum shared_kind kind)
{
    shared_make(&g->sems[0], kind, 1);
    shared_join(shared_start(run_pairs, g));
    shared_remove(&g->sems[0]);
    return g->result;
}

/* ---- Hand-off: one process releases what the other acquired, so without undo ---- */

ALWAYS_INLINE void lead(enum shared_kind kind, struct game *g)
{
    int64_t start = now_ns(), begin = start, now;
    long rounds = 0;

    do {
        for (int i = 0; i < 16; i++) {
            shared_release(kind, &g->sems[1]);
            shared_acquire(kind, &g->sems[0]);
        }
        rounds += 16;
        now = now_ns();
        if (begin == start && now - start >= g->duration_ns / 5) {     /* warm by now */
            begin = now;
            rounds = 0;
        }
    } while (rounds == 0 || now - begin < g->duration_ns);
    g->result = (double)(now - begin) / (double)rounds / 2;
}

ALWAYS_INLINE void follow(enum shared_kind kind, struct game *g)
{
    for (;;) {
        shared_acquire(kind, &g->sems[1]);
        shared_release(kind, &g->sems[0]);
    }
}

static void run_leader(void *arg)
{
    struct game *g = arg;

    pin_self(g->cores[0]);
    switch (g->sems[0].kind) {
    case FAIR_NO_UNDO: lead(FAIR_NO_UNDO, g); break;
    case SEM_T:        lead(SEM_T, g); break;
    default:           lead(SEMOP, g);
    }
}

static void run_follower(void *arg)
{
    struct game *g = arg;

    pin_self(g->cores[1]);
    switch (g->sems[0].kind) {
    case FAIR_NO_UNDO: follow(FAIR_NO_UNDO, g); break;
    case SEM_T:        follow(SEM_T, g); break;
    default:           follow(SEMOP, g);
    }
}

static double play_handoff(struct game *g, enum shared_kind kind)
{
    pid_t follower;

    for (int i = 0; i < 2; i++)
        shared_make(&g->sems[i], kind, 0);
    follower = shared_start(run_follower, g);
    shared_join(shared_start(run_leader, g));
    shared_kill(follower);
    for (int i = 0; i < 2; i++)
        shared_remove(&g->sems[i]);
    return g->result;
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
        shared_acquire(s->kind, s);
        now = busy_until(now_ns(), HOLD_NS);
        shared_release(s->kind, s);
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
        shared_acquire(s->kind, s);
        waited = now_ns() - begin;
        shared_release(s->kind, s);
        if ((double)waited > g->result)
            g->result = (double)waited;
    }
}

static double play_victim(struct game *g, enum shared_kind kind)
{
    pid_t hog, victim;

    g->result = 0;
    atomic_store(&g->over, false);
    shared_make(&g->sems[0], kind, 1);
    hog = shared_start(run_hog, g);
    victim = shared_start(run_victim, g);
    shared_join(hog);
    shared_join(victim);
    shared_remove(&g->sems[0]);
    return g->result / (double)NS_PER_MS;
}

/* ---- Tables ---- */

#define EACH(kind) (1u << (kind))
#define WITH_LOCKS (EACH(FAIR_UNDO) | EACH(SEM_T) | EACH(SEMOP_UNDO) | EACH(LOCK_FLOCK) \
                    | EACH(LOCK_FCNTL))

struct goal {
    enum shared_kind ours;
    int              peer;      /* a kind, or -1: none */
    double           most;      /* 0: there is no goal */
};

static const struct setting {
    const char *name, *title, *unit, *pinning;
    double    (*play)(struct game *g, enum shared_kind kind);
    unsigned    kinds;
    int         cores[2];
    int64_t     duration_ns;
    struct goal goals[2];
} settings[] = {
    { "uncontended", "shared: acquire + release of the only unit, while nobody waits",
      "ns per pair", "one process on core 0", play_pairs, WITH_LOCKS | EACH(FAIR_NO_UNDO),
      { 0, 0 }, 10 * NS_PER_MS,
      { { FAIR_UNDO, SEMOP_UNDO, 0.30 }, { FAIR_NO_UNDO, SEM_T, 1.10 } } },
    { "same-core", "shared: hand-off between two processes, one core", "ns per hand-off",
      "both on core 0", play_handoff, EACH(FAIR_NO_UNDO) | EACH(SEM_T) | EACH(SEMOP),
      { 0, 0 }, 25 * NS_PER_MS, { { FAIR_NO_UNDO, SEM_T, 1.5 } } },
    { "two-cores", "shared: hand-off between two processes, a core for each", "ns per hand-off",
      "on core 0 and core 1", play_handoff, EACH(FAIR_NO_UNDO) | EACH(SEM_T) | EACH(SEMOP),
      { 0, 1 }, 25 * NS_PER_MS, { { FAIR_NO_UNDO, SEM_T, 0.2 } } },
    { "victim", "shared: the longest wait beside a process that holds the unit for 0.2 ms at a time",
      "ms, longest wait", "hog on core 0, victim on core 1", play_victim, WITH_LOCKS,
      { 0, 1 }, 500 * NS_PER_MS, { { FAIR_UNDO, -1, 10 } } },
};

/* A goal without a peer is for the worst repetition, not for the median. */
static void report_worst(struct report_table *t, const struct goal *goal)
{
    static struct report_table worst;
    const struct report_row *row = report_find(t, shared_name(goal->ours));
    struct report_row *only;
    double most = 0;

    for (size_t i = 0; row != NULL && i < row->n; i++)
        most = row->samples[i] > most ? row->samples[i] : most;
    report_table_begin(&worst, "shared", "victim-longest", "shared: the same, the longest of all",
                       t->unit);
    worst.pinning = t->pinning;
    only = report_row(&worst, shared_name(goal->ours));
    only->samples[only->n++] = most;
    report_goal(&worst, shared_name(goal->ours), NULL, goal->most);
    report_table(&worst);
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

        g->cores[i] = s->cores[i];
        if (goal->most > 0 && goal->peer >= 0)
            report_goal(&t, shared_name(goal->ours), shared_name((enum shared_kind)goal->peer),
                        goal->most);
    }
    for (int i = 0; i < repetitions; i++) {
        progress_show(s->title, (double)i / repetitions);
        for (enum shared_kind kind = 0; kind < SHARED_KINDS; kind++) {
            struct report_row *row;

            if ((s->kinds & EACH(kind)) == 0)
                continue;
            row = report_row(&t, shared_name(kind));
            row->samples[row->n++] = s->play(g, kind);
        }
    }
    report_table(&t);
    for (int i = 0; i < 2; i++) {
        if (s->goals[i].most > 0 && s->goals[i].peer < 0)
            report_worst(&t, &s->goals[i]);
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
}
