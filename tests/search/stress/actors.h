/* SPDX-License-Identifier: MIT */
/*
 * actors.h - shared by the parts of the stress program, which uses all functions at once.
 *
 * A run has a round for each kind of semaphore.  In a round, actors, one thread each, use a semaphore of that
 * kind, and a plain one, until each actor has done a number of acts, or a time has passed:
 *
 *     players    acquire in each possible way, hold, release (player.c)
 *     hunters    start threads that wait, and are canceled or end (hunter.c)
 *     founders   make semaphores for a moment: close, initialize again, destroy and free them
 *                right after an acquire (founder.c)
 *     wardens    one for each of the two: debts, capacities, and the count (warden.c)
 *     forker     makes children, which check and use the semaphores (forker.c)
 *     signaller  sends signals to players (forker.c)
 *
 * while the process is stopped and continued.  At the end both semaphores are closed while all actors use them.
 * No thread waits for ever unless a unit or a wake is lost: stress.c stops the program when an actor has been
 * silent for too long.
 */
#ifndef ACTORS_H
#define ACTORS_H

#include "stress.h"
#include "suite.h"

#include "system/parking.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PLAYERS_MOST 16
#define ACTORS_MOST  (PLAYERS_MOST + 12)

/* Reasons that no call returns for other causes. */
#define CANCELED_BY_TOKEN 4711
#define CLOSED            815

/* ThreadSanitizer loses track of threads that are canceled on a futex. */
#define FUTEXES (FS_HAS_FUTEX && !UNDER_TSAN)

/* Faults that the program commits itself, to show that it can fail. */
enum fault { NO_FAULT, FAULT_LOST, FAULT_MADE, FAULT_LEAK };

struct kind {
    const char    *name;
    int            players, priorities;
    int64_t        units, most;     /* most: the units that may be in use while capacities change */
    fairsem_attr_t attr;
};

/* A semaphore under test, and the count of units by its holders. */
struct arena {
    fairsem_t          sem;
    const struct kind *kind;
    bool               interruptible;
    _Atomic int64_t    held, most_held;
    int64_t            turns;       /* of the holder, if there is one unit: two holders would be a data race */
};

struct round;
struct actor;
typedef void actor_fn(struct actor *a);
actor_fn play, hunt, found, guard, fork_now_and_then, signal_now_and_then;

struct actor {
    const struct role *role;
    pthread_t          thread;
    struct round      *round;
    int                place;       /* its number among the actors of its role */
    uint32_t           seed;        /* owner only */
    pthread_mutex_t    token_mutex; /* of a player: excludes a cancel while the token is initialized again */
    fairsem_token_t    token;
    _Atomic int64_t    acts;
    _Atomic int64_t    beat_ns;     /* the time of its last act */
    _Atomic int        at_home;     /* the actor has ended */
};

struct round {
    struct arena    arenas[2];      /* one of the kind, and a plain one */
    struct actor    actors[ACTORS_MOST];
    int             count;          /* of actors; r/o once they run */
    fairsem_token_t never;          /* a token that is never canceled */
    enum fault      fault;          /* r/o */
    void *_Atomic   leaked;         /* FAULT_LEAK: the last block */
    _Atomic int     stop, failed;
    _Atomic int64_t acquired, called_back, canceled, interrupted, checks;
};

/* The actor has resolved an act. */
void beat(struct actor *a);

/* Report an error, and end the round.  A thread that may be canceled must not call it. */
void complain(struct round *r, const char *format, ...);

static inline bool is_over(struct round *r)
{
    return atomic_load_explicit(&r->stop, memory_order_relaxed) != 0;
}

/* Sleep, at most until the end of the round. */
void rest(struct round *r, int64_t ns);

/* Pause, sometimes briefly, sometimes long enough for others to fall asleep. */
void moments(uint32_t *seed);

/* The caller has just got n units, or is about to release them. */
void pick_up(struct arena *arena, int64_t n);
void put_down(struct arena *arena, int64_t n);

#endif
