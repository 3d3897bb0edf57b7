/* SPDX-License-Identifier: MIT */
/*
 * handoff.c - two threads alternate with two semaphores: the time from a release until the thread that was
 * granted the unit runs.
 *
 * Between two cores no hand-off can be faster than the transfer of a cache line.  For comparison, two threads
 * spin and pass a bare line to and fro; the figure is the time of one way.  This time differs between machines.
 * On a virtual machine it differs from hour to hour, with the cores of the host.
 */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "die.h"
#include "loops.h"
#include "peers.h"
#include "pin.h"
#include "report.h"
#include "workloads.h"

#include <pthread.h>

enum { NOT_PINNED = -1 };

static const struct setting {
    const char *name;
    int leader_core, follower_core;
    bool main_leads; /* otherwise the main thread sleeps */
} settings[] = {
    { "one core", 0, 0, false },
    { "two cores", 0, 1, false },
    { "the main thread and another, two cores", 0, 1, true },
    { "not pinned", NOT_PINNED, NOT_PINNED, false },
};
enum { SETTINGS = sizeof(settings) / sizeof(*settings) };

static void take_seat(struct turns *g, enum side me)
{
    if (g->cores[me] != NOT_PINNED)
        pin_self(g->cores[me]);
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
    const struct sem_ops *ops; /* NULL for the bare line */
    void *(*lead)(void *);
    void *(*follow)(void *);
} players[] = {
#define ENTRY(peer) { &ops_##peer, lead_##peer, follow_##peer },
    FOR_EACH_PEER(ENTRY)
    { NULL, lead_bare_line, follow_bare_line },
};
enum { PLAYERS = sizeof(players) / sizeof(*players) };

/* Do one repetition, with new semaphores.  Returns false if the system does not have this kind of semaphore. */
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
    /* The bare line needs two cores: spinning threads on one core would pass it once in a time slice. */
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
    const bool two_cores = pin_cores() > 1 && pin_possible() && s->follower_core != 0;
    struct turns g = { .warm_up_ns = quick ? NS_PER_MS : 5 * NS_PER_MS,
                       .duration_ns = quick ? 5 * NS_PER_MS : 25 * NS_PER_MS };

    for (int i = 0; i < (quick ? 3 : 15); i++) {
        for (int p = 0; p < PLAYERS; p++) {
            const struct sem_ops *ops = players[p].ops;

            if ((ops || two_cores) && play(&players[p], s, &g))
                REPORT("handoff", s->name, ops ? ops->name : "bare cache line",
                       { "handoff_ns", g.ns_per_handoff });
        }
    }
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
