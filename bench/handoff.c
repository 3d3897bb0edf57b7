/* SPDX-License-Identifier: MIT */
/*
 * handoff.c - two threads take turns with two semaphores: how long it takes until a sleeping
 * thread runs with the unit that it was granted.
 *
 * Between two cores no hand-off can take less than a cache line that goes from one to the other.
 * So there is a pair of threads that spin and pass a bare one, and each hand-off is also shown as
 * a number of such transfers.  What a transfer takes differs between machines, and on a virtual
 * machine from hour to hour: it depends on which cores of the host are below.
 */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "die.h"
#include "loops.h"
#include "peers.h"
#include "pin.h"
#include "progress.h"
#include "report.h"
#include "workloads.h"

#include <math.h>
#include <pthread.h>

enum { NOT_PINNED = -1 };

/* On one core; a condition variable needs a mutex that a futex does not. */
#ifdef FS_FUTEX_BY_DEFAULT
#define GOAL_HERE 1.10
#else
#define GOAL_HERE 1.30
#endif

/* On two cores. */
#define GOAL_ACROSS    0.35
#define GOAL_TRANSFERS 4.0

static const struct setting {
    const char *name, *title, *pinning;
    int leader_core, follower_core;
    bool main_leads; /* else the main thread sleeps */
    double goal, transfers;
} settings[] = {
    { "same-core", "hand-off: two threads in turn, one core", "both threads on core 0", 0, 0,
      false, GOAL_HERE, NAN },
    { "two-cores", "hand-off: two threads in turn, a core for each",
      "threads on core 0 and core 1", 0, 1, false, GOAL_ACROSS, GOAL_TRANSFERS },
    { "main-thread", "hand-off: the main thread and another in turn, a core for each",
      "the main thread on core 0, the other on core 1", 0, 1, true, GOAL_ACROSS,
      GOAL_TRANSFERS },
    { "not-pinned", "hand-off: two threads in turn, wherever they run", "not pinned", NOT_PINNED,
      NOT_PINNED, false, NAN, NAN },
};
enum { SETTINGS = sizeof(settings) / sizeof(*settings) };

static void take_seat(struct turns *g, enum side me)
{
    g->pinned[me] = g->cores[me] == NOT_PINNED || pin_self(g->cores[me]);
}

#define INSTANCE(peer, ops)                \
    static void *lead_##peer(void *game)   \
    {                                      \
        take_seat(game, LEADER);           \
        turns_lead(ops, game);             \
        return NULL;                       \
    }                                      \
                                           \
    static void *follow_##peer(void *game) \
    {                                      \
        take_seat(game, FOLLOWER);         \
        turns_follow(ops, game);           \
        return NULL;                       \
    }
#define PEER_INSTANCE(peer) INSTANCE(peer, &ops_##peer)
FOR_EACH_PEER(PEER_INSTANCE)
INSTANCE(bare_line, NULL)

static const struct player {
    const struct sem_ops *ops; /* NULL: the bare line */
    void *(*lead)(void *);
    void *(*follow)(void *);
} players[] = {
#define ENTRY(peer) { &ops_##peer, lead_##peer, follow_##peer },
    FOR_EACH_PEER(ENTRY)
    { NULL, lead_bare_line, follow_bare_line },
};
enum { PLAYERS = sizeof(players) / sizeof(*players) };

#define BARE_LINE "bare cache line"

static const char *name_of(const struct player *p)
{
    return p->ops ? p->ops->name : BARE_LINE;
}

/* One repetition, with new semaphores; false if the system has no such semaphore. */
static bool play(const struct player *p, const struct setting *s, struct turns *g)
{
    pthread_t leader, follower;
    bool here = true;

    for (int i = 0; p->ops && i < 2; i++) {
        g->sems[i] = sem_new(p->ops, 0);
        here = here && g->sems[i];
    }
    atomic_store(&g->stop, false);
    atomic_store(&g->line, LEADER);
    /* Threads that spin on one core would pass the line once in a time slice. */
    g->cores[LEADER] = p->ops ? s->leader_core : 0;
    g->cores[FOLLOWER] = p->ops ? s->follower_core : 1;
    if (here) {
        start_thread(&follower, p->follow, g);
        if (s->main_leads) {
            p->lead(g);
            pin_undo();
        } else {
            start_thread(&leader, p->lead, g);
            pthread_join(leader, NULL);
        }
        pthread_join(follower, NULL);
    }
    for (int i = 0; p->ops && i < 2; i++)
        sem_delete(p->ops, g->sems[i]);
    return here;
}

static void measure(const struct setting *s, bool quick)
{
    static struct report_table t;
    const int repetitions = quick ? 3 : 15;
    const bool two_cores = pin_cores() > 1 && pin_possible() && s->follower_core != 0;
    struct turns g = { .warm_up_ns = quick ? NS_PER_MS : 5 * NS_PER_MS,
                      .duration_ns = quick ? 5 * NS_PER_MS : 25 * NS_PER_MS };
    bool pinned = true;

    report_table_begin(&t, "handoff", s->name, s->title, "ns per hand-off");
    t.repetition_ns = g.duration_ns;
    if (two_cores) {
        t.multiples = "transfers";
        t.multiples_of = BARE_LINE;
    }
    report_goal(&t, "fairsem", "sem_t", s->goal);
    if (t.multiples && !isnan(s->transfers))
        report_goal(&t, "fairsem", BARE_LINE, s->transfers);
    for (int i = 0; i < repetitions; i++) {
        progress_show(t.title, (double)i / repetitions);
        for (int p = 0; p < PLAYERS; p++) {
            if (!players[p].ops && !two_cores)
                continue;
            report_row(&t, name_of(&players[p]));
            if (play(&players[p], s, &g))
                report_add(&t, name_of(&players[p]), g.ns_per_handoff);
            pinned = pinned && g.pinned[LEADER] && g.pinned[FOLLOWER];
        }
    }
    if (pinned)
        t.pinning = s->pinning;
    report_table(&t);
    if (two_cores)
        report_note("a transfer is one way of the line, between spinning threads on cores 0 and 1");
}

void handoff_run(bool quick)
{
    for (int i = 0; i < SETTINGS; i++) {
        const struct setting *s = &settings[i];

        if (s->leader_core == NOT_PINNED || (pin_possible() && s->follower_core < pin_cores()))
            measure(s, quick);
        else
            report_note("threads on chosen cores: skipped, that is not possible here");
    }
}
