/* SPDX-License-Identifier: MIT */
/*
 * shared.c - semaphores between processes: an acquire and a release while nobody waits, the hand-off between two
 * processes, a hog and its victim, the order of 64 processes, and the death of a holder.  shared_crowd.c measures
 * the cost of many processes.
 */
#define _GNU_SOURCE

#include "clock.h"
#include "die.h"
#include "loops.h"
#include "pin.h"
#include "report.h"
#include "shared_peers.h"
#include "workloads.h"

#include <stdatomic.h>

enum { PROCESSES = 64 };

/* One measurement, in memory that all its processes share. */
struct game {
    struct shared_sem sems[2];      /* uncontended, victim: only the first */
    struct turns      turns;
    int64_t           duration_ns;
    double            result;
    atomic_bool       over;
    atomic_int        place, ready;
    int               order[PROCESSES];     /* order[i] is the i-th process */
    int               next;                 /* the number of the process that is started */
    _Atomic int64_t   acquired_ns;
};

enum { BATCH = 1024 };      /* pairs between two readings of the clock */

#define INSTANCE(peer)                                                   \
    static int pairs_##peer(void *sem)                                   \
    {                                                                    \
        int failed = 0;                                                  \
                                                                         \
        for (int i = 0; i < BATCH; i++)                                  \
            failed |= ops_##peer.acquire(sem) | ops_##peer.release(sem); \
        return failed;                                                   \
    }                                                                    \
    static void lead_##peer(void *turns)                                 \
    {                                                                    \
        pin_self(((struct turns *)turns)->cores[LEADER]);                \
        turns_lead(&ops_##peer, turns);                                  \
    }                                                                    \
    static void follow_##peer(void *turns)                               \
    {                                                                    \
        pin_self(((struct turns *)turns)->cores[FOLLOWER]);              \
        turns_follow(&ops_##peer, turns);                                \
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
    g->result = loop_batches(playing->pairs, &g->sems[0], BATCH, g->duration_ns);
}

static double play_pairs(struct game *g)
{
    shared_make(&g->sems[0], playing->ops, 1);
    shared_join(shared_start(run_pairs, g));
    shared_destroy(&g->sems[0]);
    return g->result;
}

/* ---- Hand-off, without undo, because one process releases the units that the other one acquired ---- */

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
    do {
        s->ops->acquire(s);
        now = busy_until(now_ns(), HOLD_NS);
        s->ops->release(s);
    } while (now - begin < g->duration_ns);
    atomic_store(&g->over, true);
}

/* The result is the longest wait of the victim. */
static void run_victim(void *arg)
{
    struct game *g = arg;
    struct shared_sem *s = &g->sems[0];

    pin_self(1);
    while (!atomic_load(&g->over)) {
        int64_t begin, waited;

        sleep_ns(NS_PER_MS);
        begin = now_ns();
        s->ops->acquire(s);
        waited = now_ns() - begin;
        s->ops->release(s);
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
    return g->result;
}

/* ---- 64 processes queue for one unit ---- */

static void run_in_order(void *arg)
{
    struct game *g = arg;
    struct shared_sem *s = &g->sems[0];
    int number = g->next;

    if (s->ops->acquire(s) != 0)
        die("acquire failed", 0);
    g->order[atomic_fetch_add(&g->place, 1)] = number;
    s->ops->release(s);
}

/* The number of pairs of processes in which the later one was granted first. */
static int passes(const struct game *g)
{
    int n = 0;

    for (int i = 0; i < PROCESSES; i++) {
        for (int j = i + 1; j < PROCESSES; j++)
            n += g->order[i] > g->order[j];
    }
    return n;
}

static double play_order(struct game *g)
{
    struct shared_sem *s = &g->sems[0];
    pid_t pids[PROCESSES];

    shared_make(s, playing->ops, 1);
    atomic_store(&g->place, 0);
    if (s->ops->acquire(s) != 0)
        die("acquire failed", 0);
    for (g->next = 0; g->next < PROCESSES; g->next++) {
        pids[g->next] = shared_start(run_in_order, g);
        while (shared_waiters(s) != g->next + 1)
            sleep_ns(20 * NS_PER_US);
    }
    s->ops->release(s);
    for (int i = 0; i < PROCESSES; i++)
        shared_join(pids[i]);
    shared_destroy(s);
    return passes(g);
}

/* ---- A holder is killed (with sem_t, the next in the queue would wait for ever) ---- */

static void run_holder(void *arg)
{
    struct game *g = arg;

    playing->ops->acquire(&g->sems[0]);
    atomic_store(&g->ready, 1);
    for (;;)
        pause();
}

static void run_heir(void *arg)
{
    struct game *g = arg;

    atomic_store(&g->ready, 2);
    if (playing->ops->acquire(&g->sems[0]) != 0)
        die("acquire failed", 0);
    atomic_store(&g->acquired_ns, now_ns());
}

static void await_ready(struct game *g, int value)
{
    while (atomic_load(&g->ready) != value)
        sleep_ns(20 * NS_PER_US);
}

/* Returns the time from the death of the holder until the next process has the unit. */
static double play_death(struct game *g)
{
    static int deaths;
    int64_t killed_ns;
    pid_t holder, heir;

    shared_make(&g->sems[0], playing->ops, 1);
    holder = shared_start(run_holder, g);
    await_ready(g, 1);
    heir = shared_start(run_heir, g);
    await_ready(g, 2);
    /* The heir checks for dead holders from time to time: kill at different moments between two checks. */
    sleep_ns((20 + deaths++ * 37 % 100) * NS_PER_MS);
    killed_ns = now_ns();
    shared_kill(holder);
    shared_join(heir);
    shared_destroy(&g->sems[0]);
    return (double)(atomic_load(&g->acquired_ns) - killed_ns);
}

/* ---- All of them ---- */

static const struct setting {
    const char *name, *figure;
    double    (*play)(struct game *g);
    const struct sem_ops *kinds[SHARED_PEERS];
    int         cores[2];
    int64_t     duration_ns;
    int         repetitions;
} settings[] = {
    { "uncontended", "pair_ns", play_pairs,
      { &ops_undo, &ops_no_undo, &ops_sem_t, &ops_semop_undo }, { 0, 0 }, 10 * NS_PER_MS, 15 },
    { "hand-off, one core", "handoff_ns", play_handoff, { &ops_no_undo, &ops_sem_t, &ops_semop },
      { 0, 0 }, 25 * NS_PER_MS, 15 },
    { "hand-off, two cores", "handoff_ns", play_handoff, { &ops_no_undo, &ops_sem_t, &ops_semop },
      { 0, 1 }, 25 * NS_PER_MS, 15 },
    { "victim, two cores", "longest_wait_ns", play_victim, { &ops_undo, &ops_sem_t, &ops_semop_undo },
      { 0, 1 }, 500 * NS_PER_MS, 15 },
    { "64 queue for one unit", "passed", play_order, { &ops_undo, &ops_semop_undo }, { 0, 0 }, 0,
      10 },
    { "death of a holder", "until_the_next_ns", play_death, { &ops_undo, &ops_semop_undo }, { 0, 0 },
      0, 40 },
};

static void measure(const struct setting *s, struct game *g, bool quick)
{
    g->duration_ns = quick ? s->duration_ns / 10 : s->duration_ns;
    for (int i = 0; i < 2; i++)
        g->turns.cores[i] = s->cores[i];
    for (int i = 0; i < (quick ? 2 : s->repetitions); i++) {
        for (int k = 0; k < SHARED_PEERS && s->kinds[k]; k++) {
            for (playing = peers; playing->ops != s->kinds[k]; playing++)
                continue;
            REPORT("shared", s->name, playing->ops->name, { s->figure, s->play(g) });
        }
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
    shared_crowd_run(quick);
}
