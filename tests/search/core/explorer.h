/* SPDX-License-Identifier: MIT */
/*
 * explorer.h - runs scenarios on the library's own sources under every schedule.
 *
 * HOW IT WORKS.  src/core/ is compiled unchanged, against layer.h.  Threads are fibres of one system
 * thread.  Before each operation that another thread could notice (a lock, an unlock, a wake, an
 * atomic access) a fibre stops, and the scheduler (schedule.c) decides what happens next: a thread
 * goes on, or the sleep of one ends by a time-out, spuriously, by a signal or by pthread_cancel.  If
 * there is more than one answer, all are tried, depth first: a run is repeated up to its last decision
 * that has an answer left.  ../engine/ has the parts that both explorers share: fibres, the search,
 * known states, the command line.
 *
 *   ../../scenarios/ has the language, its use on the command line, and the table
 *   actors.c     the threads that perform them; calls_back.c: the callbacks of tickets
 *   generate.c   random scenarios; legal.c: is a scenario legal?  campaign.c: many of them
 *   minimize.c   the shortest scenario, and schedule, that still fails
 *   schedule.c   the options at each step of a run; states.c: the state of a run
 *   threads.c    mutexes, condition variables, cancellation; clock.c: time, futex, signals;
 *                process.c: the rest
 *   access.c     atomic and plain accesses; memory.c: their memory
 *   views.c      weak memory: the knowledge of a thread; stores.c: the values that its loads may
 *                see; views_state.c: views as a part of a state; races.c: plain accesses without
 *                an order; users.c: the order that users rely on; litmus.c: is the model right?
 *   oracles.c    invariants after each step and at the end; bounds.c: of the units; waiters.c: at
 *                each access
 *   model*.c     the semaphore as a sequential program; history.c: does it explain the results?
 *   origins.c    is each acquire ordered after the releases that its units came from?
 *   trace.c      prints a run
 *   coverage.c   has each operation had each result, and do any two of them meet?
 *
 * GENERATED SCENARIOS (--generate).  A table has only the cases that its author thought of, so most
 * scenarios are random, each made from a number.  Their threads may wait for ever.  That is not a
 * deadlock if each of them is in its queue, and some order of the model's steps explains why none
 * of them was granted.  (So a lost wake-up, a waiter lost from its queue and a unit granted to no
 * thread are as visible as in scenarios in which all threads must end.)  At the end the semaphores
 * must be in the model's state.
 *
 * BOUNDS.  A switch away from a thread that could go on is a preemption; a run has at most `bound` of
 * them (2 by default).  An unusual answer about which threads stay awake, or are pre-woken,
 * counts as a preemption, too: instead/awake.c has every possible policy.  Nothing else is
 * bounded: the thread that goes on when another one sleeps or ends, time-outs, cancellation.  The
 * scenario limits spurious wake-ups and signals.
 *
 * OMISSIONS, AND WHY THEY ARE SOUND
 *
 *   - No switch before a plain access, except to another thread's stack or a parker without any
 *     mutex, and to a semaphore without its mutex in a scenario that may destroy it.  All other
 *     accesses are protected by mutexes or by the state of a waiter.  races.c checks that, and a
 *     plain write to a semaphore without its mutex is always an error.  A switch between two such
 *     accesses has the same effect as a switch before the operation that follows.
 *   - No switch before an access that commutes with all others: a load, under the mutex, of a
 *     variable that is only written under it; a load of a variable that no thread writes in this
 *     scenario (memory.c).
 *   - A run ends in a state that an earlier run has reached with as many preemptions left, or more
 *     (states.c).  The state is everything: stacks, memory, clock, and the record for the oracles.
 *
 * WEAK MEMORY (--stale N).  A load may see a value that is not the newest if the views of views.h
 * allow that, and data races are errors.  Owners reuse a stack frame, a destroyed semaphore and a
 * returned ticket at once, so that a late access is a race.  At most N loads of a run see old
 * values.  In the history, one call comes before another only if the views order them; and an
 * acquired unit must come from a release that the views order before it (origins.c).  Without
 * --stale all accesses are sequentially consistent, which is faster, and histories are in the order
 * of time.
 *
 * NOT COVERED.  Load buffering: no load sees a later store.  More old loads or preemptions than the
 * bounds.  Weak compare-and-swaps that fail spuriously.  fork.  Signal handlers except in a sleep.
 * More than four threads.
 */
#ifndef XP_EXPLORER_H
#define XP_EXPLORER_H

#define XP_EXPLORER
#include "layer.h"

#include <stddef.h>
#include <stdint.h>

enum { KEYS_MAX = 4, STACK_SIZE = 32768, HEAP_SIZE = 8192, STATES_MAX = 1 << 21 };

#include "../../scenarios/language.h"
#include "../engine/engine.h"

#define RESULT_NEVER (INT64_MIN + 1)    /* the call waits for ever */

/* An operation that is performed, and its result. */
struct call {
    enum { NOT_YET, CALLED, RETURNED } phase;
    int      sem;           /* for a claim, the semaphore of its units */
    int64_t  result;
    uint64_t after;         /* the calls that had returned before this one began: a set */
    uint64_t saw;           /* weak memory: the calls whose beginning came before its return */
    int64_t  n;             /* units; for `give`, the number that it found */
};

/* The whole run, except the memory of the library. */
struct run {
    struct call call[CALLS];
    int64_t     held[THREADS][SEMS_MAX];    /* units, by the results */
    int         capacity_changes;               /* begun */
    bool        sem_dead[SEMS_MAX], share_dead[SHARES];
    uint8_t     made[CALLS];                    /* number of runs of this take's callback */
    uint8_t     acts[THREADS][CALLBACK_PLACES]; /* the operation of each callback's place */
    int         acted[THREADS];             /* number of used places */
    bool        calls_back[THREADS];        /* the thread is in a callback */
    int64_t     now;                            /* the clock, nanoseconds */
    int         spurious, signals, no_memory, stale;    /* their numbers so far */
    uint64_t    returned;                       /* calls, a set */
};
extern struct run run;

/* Calls are numbered, so that a set of calls is a bit mask. */
static inline const struct op *op_of(int call)
{
    return &script[call / OPS_MAX][call % OPS_MAX];
}

/* Had that call returned when this one began?  -1 stands for all before the threads started. */
static inline bool returned_before(int that, int this)
{
    return that < 0 || (run.call[this].after >> that & 1) != 0;
}

/* ---- Threads ---- */

enum at {
    READY,              /* stopped before something that it can do at any time */
    WANTS_MUTEX, SLEEPS_ON_COND, SLEEPS_ON_WORD, POLLS, PAUSES,
    WAITS_ITS_TURN,     /* the scenario places it after another thread's operation, */
    FOLLOWS,            /* or after the thread before it */
    ENDED
};

enum reason { BY_TURN, TIME_OUT, NO_REASON, SIGNAL, PTHREAD_CANCEL };

struct thread {
    struct fibre       fibre;
    enum at            at;
    const void        *object;      /* that it is about to use, or sleeps on */
    const char        *doing;       /* in words */
    const void        *pc;          /* from where */
    bool               woken;       /* its sleep has ended, and it only has to go on */
    bool               restless;    /* in a nap: nothing has changed since it began */
    bool               behind;      /* it has seen an old value since its last nap */
    bool               impatient;   /* it has paused long enough, until it reads the clock */
    const int         *spins_on;    /* its own waiter's state, at the last load */
    int                saw;
    bool               yields;      /* a switch away from it does not count as a preemption */
    enum reason        reason;      /* why its sleep ended */
    int64_t            deadline;    /* of the sleep, or 0 */
    int64_t            op_deadline; /* of the operation, not reached yet, or 0 */
    bool               cancelable, cancel_pending, canceled;
    bool               cancel_disabled, cancel_async;
    struct xp_cleanup *cleanups;
    void              *key[KEYS_MAX];
    int                error;       /* its errno */
    int                op;          /* the index of its operation */
    int                mutexes;     /* number of mutexes that it holds */
    int64_t            last_clock;  /* its last reading of the clock */
};

extern struct thread thread[THREADS];

static inline int id_of(const struct thread *t)
{
    return (int)(t - thread);
}

/* schedule.c */
void stop(enum at at, const char *doing, const void *object, const void *pc);
void step(const char *doing, const void *object, const void *pc);

/* threads.c */
void threads_reset(void);
int  my_number(void);               /* the value of a mutex that this thread holds, not 0 */
#define MUTEX_DEAD 0x0dead000       /* a destroyed mutex's value */
void thread_change(void);

/* process.c */
void keys_learn(void);              /* as memory_warm(), for keys */
void keys_reset(bool cold);
void thread_destroys_keys(void);
void wake_one(enum at at, const void *object);

/* clock.c */
void clock_after_sleep(enum reason reason);
#define START_NS INT64_C(1000000000000)
#define OP_TIME_NS INT64_C(1000000000)
#define NEVER_NS   (START_NS * 1000)        /* later deadlines never come */

/* memory.c */
void memory_learn(void);            /* save the library's memory before the first run */
void memory_warm(void);             /* save it after a run in which threads have waited */
void memory_reset(bool cold);
uint64_t memory_hash(uint64_t hash);

/* actors.c */
void actors_start(void);
void perform(int k);
void run_handler(void);
bool script_turn(const struct thread *t);   /* may it go on by the script's order? */

/* calls_back.c */
void called_back(fairsem_ticket_t *ticket, void *take);
void callbacks_of_take(int take);
int64_t callbacks_made(int ticket);
void callbacks_at_end(void);

/* legal.c */
const struct scenario *scenario_of_script(const struct scenario *settings, const char *name);

/* coverage.c */
void coverage_result(const struct op *op, int64_t result);
bool coverage_is_complete(void);

/* generate.c */
const struct scenario *generate(unsigned long seed);

/* campaign.c */
int  search_deeper(const struct scenario *what, struct limits with, int *complete);
bool campaign(unsigned long first, unsigned long last, unsigned long every, struct limits limits);

/* minimize.c: minimize a scenario that has just failed with these limits, and print the result */
void minimize_failure(const struct scenario *what, struct limits with);

/* oracles.c */
void oracles_after_step(void);
void oracles_at_end(void);

/* waiters.c */
void waiters_reset(void);
void oracle_op_begins(void);
void oracle_op_ends(void);
bool oracle_own_mutex(const void *at);
bool oracle_unprotected(const void *at);
bool oracle_is_queued(const struct thread *t);
bool oracle_waits(const struct thread *t);
void oracle_touch(const void *at, size_t size, bool write);
void oracle_stored(const void *at, size_t size, int64_t before, int64_t now);

/* users.c */
void user_calls(struct call *call, int number);
void user_has_returned(struct call *call, int number, const char *below);
void user_came_after(const struct op *op);
void user_follows(void);
void user_destroyed(int sem);
void user_returned(int ticket);
void user_unshared(int share);

/* origins.c */
void origins_check(void);

/* litmus.c */
bool litmus(void);

/* history.c */
void history_check(void);
void history_forget(void);
int  history_count(void);           /* number of different histories so far */

/* trace.c */
void trace_step(const struct thread *t, enum reason reason);
const char *object_words(const void *object);
const char *place_words(const void *pc);

#endif
