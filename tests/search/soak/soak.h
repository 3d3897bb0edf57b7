/* SPDX-License-Identifier: MIT */
/*
 * soak.h - what the parts of the soak share, which uses all functions at once for hours.
 *
 * A few semaphores (arena.h) exist for the whole run.  Actors, one thread each, use them until the
 * time is over:
 *
 *     players    acquire in every possible way, hold, release, for the whole run (player.c)
 *     hunters    start threads that wait, and are canceled or end (hunter.c)
 *     wardens    one per arena: debts, capacities, and the count every second (warden.c)
 *     founders   make semaphores for a moment: close, initialize again, destroy and free them
 *                right after an acquire (founder.c)
 *     forker     makes children, which check the semaphores (forker.c)
 *     signaller  sends signals to players (signaller.c)
 *
 * No thread waits for ever unless a unit or a wake is lost.  Each actor's heart beats once per act;
 * when one has been silent for a minute, watch.c stops the program.
 */
#ifndef SOAK_H
#define SOAK_H

#include "arena.h"

#include "stress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PLAYERS     6
#define HUNTERS     2
#define FOUNDERS    2
#define MOST_ACTORS 24

/* A reason that no call returns otherwise. */
#define CANCELED_BY_TOKEN 4711
#define CLOSED_BY_FOUNDER 815

/* Faults that the soak commits itself, to show that it can fail. */
enum fault { NO_FAULT, FAULT_LOST, FAULT_MADE, FAULT_LEAK };

struct soak;
struct actor;

/* What an actor does until the time is over. */
typedef void actor_fn(struct actor *a);
actor_fn play, hunt, guard, found, fork_now_and_then, signal_now_and_then;

struct actor {
    const char     *name;
    actor_fn       *run;
    pthread_t       thread;
    struct soak    *soak;
    struct arena   *arena;          /* a warden's */
    uint32_t        seed;           /* owner only */
    pthread_mutex_t token_mutex;    /* a player's: between a cancel and the token's next life */
    fairsem_token_t token;
    _Atomic int64_t acts;
    _Atomic int64_t longest_ns;     /* of its waits */
    _Atomic int64_t beat_ns;        /* the time of its last act */
    _Atomic int     at_home;        /* it has ended */
};

struct soak {
    struct arena    arenas[ARENAS];
    struct actor    actors[MOST_ACTORS];
    int             count;          /* of actors; r/o once they run */
    enum fault      fault;          /* r/o */
    void *_Atomic   leaked;         /* FAULT_LEAK: the last block */
    _Atomic int     stop;
    _Atomic int     failed;
    _Atomic int64_t checks;         /* of conservation */
    _Atomic int64_t acquired, timed_out, refused, canceled, interrupted, called_back;
    _Atomic int64_t threads, forks, signals, semaphores;
};

int64_t now_ns(void);

/* The actor has completed an act. */
void beat(struct actor *a);

/* Report an error, and end the run.  Not in a thread that may be canceled. */
void complain(struct soak *s, const char *format, ...);

/* Sleep, but not beyond the end. */
void rest(struct soak *s, int64_t ns);

static inline bool is_over(struct soak *s)
{
    return atomic_load_explicit(&s->stop, memory_order_relaxed) != 0;
}

static inline struct arena *any_arena(struct actor *a)
{
    return &a->soak->arenas[next(&a->seed) % ARENAS];
}

/* Acquire n units of the arena in one of many ways, hold and release them (player.c). */
void act_once(struct actor *a, struct arena *arena);

#endif
