/* SPDX-License-Identifier: MIT */
/*
 * explorer.h - a stateless model checker: runs scenarios on the library's own sources under every schedule.
 *
 * HOW IT WORKS.  src/core/ is compiled unchanged, against layer.h.  The threads of a scenario are fibres of one
 * system thread.  A fibre stops before each operation that another thread could notice: a lock, an unlock, a
 * wake, an atomic access.  Then the scheduler (schedule.c) decides what happens next: a thread continues, or
 * the sleep of a thread ends by a time-out, spuriously, by a signal or by pthread_cancel.  All answers to each
 * decision are tried, depth first: a run repeats the run before it up to the last decision with an untried
 * answer.  ../engine/ is the part that ../shared/ uses, too: fibres, the search, known states, the command
 * line.
 *
 *   ../../scenarios/ has the language, its use on the command line, and the table of scenarios
 *   actors.c     the threads of a scenario; calls_back.c: the callbacks of tickets
 *   generate.c   random scenarios; legal.c: is a scenario legal?  campaign.c: searches many of them
 *   minimize.c   the shortest scenario, and schedule, that still fails
 *   schedule.c   the options at each step of a run; states.c: the state of a run
 *   threads.c    mutexes, condition variables, cancellation; clock.c: time, futex, signals;
 *                process.c: the library's other calls
 *   access.c     atomic and plain accesses; memory.c: the memory that they access
 *   views.c      weak memory: the knowledge of a thread; stores.c: the values that its loads may
 *                see; views_state.c: views as a part of a state; races.c: plain accesses without
 *                an order; users.c: the order that users rely on; litmus.c: tests of the memory model
 *   oracles.c    invariants after each step and at the end; bounds.c: bounds of the available units;
 *                waiters.c: invariants at each access
 *   model*.c     the semaphore as a sequential program; history.c: does it explain the results?
 *   origins.c    is each acquire ordered after the releases that its units came from?
 *   trace.c      prints a run
 *   coverage.c   has each operation had each result, and do any two of them meet?
 *
 * GENERATED SCENARIOS (--generate).  A table has only the cases that its author thought of, so most scenarios
 * are random, each computed from a number.  Their threads may wait for ever.  That is not a deadlock if each of
 * these threads is in its queue, and some order of the model's steps explains why none of them was granted.
 * (So the search also finds a lost wake-up, a waiter lost from its queue, or a unit granted to no thread.)  At
 * the end the semaphores must be in the model's state.
 *
 * BOUNDS.  A switch away from a thread that could continue is a preemption; a run has at most limits.bound
 * preemptions, 2 by default.  An unusual answer about which threads stay awake, or are pre-woken, counts as a
 * preemption, too: instead/awake.c has every possible policy.  The scenario limits spurious wake-ups and
 * signals.  Nothing else is limited.
 *
 * OMISSIONS, AND WHY THEY ARE SOUND
 *
 *   - A thread does not stop before a plain access to memory that a mutex or the state of a waiter protects: a
 *     switch there has the same effect as a switch before the thread's next operation.  With --stale, races.c
 *     checks the protection.  A thread does stop before a plain access to another thread's stack or to a parker
 *     if it holds no mutex, and to a semaphore without its mutex if the scenario has a `destroy`.
 *   - A thread does not stop before an access that commutes with all accesses of other threads (access.c), as a
 *     load of a variable that no thread writes in this scenario.
 *   - A run ends at a state that an earlier run has reached with as many preemptions, or fewer (states.c).  The
 *     state is everything: stacks, memory, clock, and the records of the oracles.
 *
 * WEAK MEMORY (--stale N).  A load may return a value that is not the newest (a stale load; "old load" in the
 * output) if the views of views.h allow that, at most N times in a run.  A data race is an error.  Owners
 * overwrite a stack frame, a destroyed semaphore and a returned ticket at once, so that a late access is a
 * race.  In the history, one call comes before another only if the views order them.  An acquired unit must
 * come from a release that the views order before the acquire (origins.c).  Without --stale all accesses are
 * sequentially consistent, which is faster, and histories are in the order of time.
 *
 * NOT COVERED.  Load buffering: no load sees a later store.  More stale loads or preemptions than the bounds.
 * Weak compare-and-swaps that fail spuriously.  fork.  Signal handlers except in a sleep.  More than four
 * threads.
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
    int      sem;           /* of a claim: the semaphore of the claimed units */
    int64_t  result;
    uint64_t after;         /* the calls that had returned before this call began: a set */
    uint64_t saw;           /* weak memory: the calls whose beginning is ordered before its return: a set */
    int64_t  n;             /* units; of `give`: the units that the thread held */
};

/* The whole run, except the memory of the library. */
struct run {
    struct call call[CALLS];
    int64_t     held[THREADS][SEMS_MAX];    /* units that a thread holds, by the results */
    int         capacity_changes;               /* number of calls that have begun to change it */
    bool        sem_dead[SEMS_MAX], share_dead[SHARES];
    uint8_t     made[CALLS];                    /* of a take: how often its callback has run */
    uint8_t     acts[THREADS][CALLBACK_PLACES]; /* the callback operation at each place, see calls_back.c */
    int         acted[THREADS];             /* number of places in use */
    bool        calls_back[THREADS];        /* the thread is in a callback */
    int64_t     now;                            /* the clock, nanoseconds */
    int         spurious, signals, no_memory, stale;    /* numbers of these events so far */
    uint64_t    returned;                       /* the calls that have returned: a set */
    enum { UNDECIDED, NEAR, CONVOY } policy;    /* of src/awake: with many cores or with few; see xp_in_convoy() */
};
extern struct run run;

/* Calls are numbered, so that a set of calls is a bit mask. */
static inline const struct op *op_of(int call)
{
    return &script[call / OPS_MAX][call % OPS_MAX];
}

/* Had call `that` returned when call `this` began?  -1 stands for all calls before the threads started. */
static inline bool returned_before(int that, int this)
{
    return that < 0 || (run.call[this].after >> that & 1) != 0;
}

/* ---- Threads ---- */

enum at {
    READY,              /* stopped before an operation that is possible at any time */
    WANTS_MUTEX, SLEEPS_ON_COND, SLEEPS_ON_WORD,
    POLLS,              /* naps until memory has changed, or time has passed */
    PAUSES,             /* spins or yields: see xp_pause() */
    WAITS_ITS_TURN,     /* in `after`: until another thread's operation has returned */
    FOLLOWS,            /* by `>`: until the thread before it waits or has ended */
    ENDED
};

enum reason { BY_TURN, TIME_OUT, NO_REASON, SIGNAL, PTHREAD_CANCEL };

struct thread {
    struct fibre       fibre;
    enum at            at;
    const void        *object;      /* the object that it is about to use, or sleeps on */
    const char        *doing;       /* its next operation, in words */
    const void        *pc;          /* the instruction of that operation */
    bool               woken;       /* another thread has ended its sleep, and it has not run since */
    bool               restless;    /* in a nap: nothing has changed since the nap began */
    bool               behind;      /* a stale load since its last nap: the next nap may end at once */
    bool               impatient;   /* a pause has timed out: it does not pause until it reads the clock */
    const int         *spins_on;    /* its own waiter's state; NULL once it has accessed a semaphore */
    int                saw;         /* the value of *spins_on that it has seen last */
    bool               yields;      /* a switch away from it does not count as a preemption */
    enum reason        reason;      /* why its last sleep ended */
    int64_t            deadline;    /* of its sleep, nap or pause; 0 for none */
    int64_t            op_deadline; /* of its operation; 0 for none */
    bool               cancelable, cancel_pending, canceled;
    bool               cancel_disabled, cancel_async;
    struct xp_cleanup *cleanups;
    void              *key[KEYS_MAX];
    int                error;       /* its errno while it is stopped */
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
int  my_number(void);               /* the value of a mutex that the running thread holds; not 0 */
#define MUTEX_DEAD 0x0dead000       /* the value of a destroyed mutex */
void thread_change(void);

/* process.c */
void keys_learn(void);              /* like memory_warm(), for the keys of thread-specific data */
void keys_reset(bool cold);
void thread_destroys_keys(void);
void wake_one(enum at at, const void *object);

/* clock.c */
void clock_after_sleep(enum reason reason);
#define START_NS INT64_C(1000000000000)
#define OP_TIME_NS INT64_C(1000000000)      /* from the beginning of an operation to its deadline */
#define NEVER_NS   (START_NS * 1000)        /* a deadline at this time or later never comes */

/* memory.c */
void memory_learn(void);            /* save the library's memory before the first run */
void memory_warm(void);             /* save it after a run in which threads have waited */
void memory_reset(bool cold);
uint64_t memory_hash(uint64_t hash);

/* actors.c */
void actors_start(void);
void perform(int k);
void run_handler(void);
bool script_turn(const struct thread *t);   /* has the operation that its `after` names returned? */

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
