/* SPDX-License-Identifier: MIT */
/*
 * explorer.h - runs the sources of the shared semaphore under every schedule and every death.
 *
 * HOW IT WORKS.  src/core/ and src/shared/ are compiled unchanged, but the explorer replaces
 * system/quota_linux.c and shared/kernel.c.  Threads are fibres (../engine/fibre.h) of several simulated
 * processes.  Each process has descriptors, locked bytes, an address of its own for the segment (kernel.c),
 * and private memory, which is swapped in when one of its threads continues (process.c).  A fibre stops
 * before each operation that another process could notice.  Then the scheduler (schedule.c) decides what
 * happens next: a thread continues, a process dies, or a sleep ends too early or by pthread_cancel.  All
 * answers are tried, depth first.  ../engine/ has the parts that both explorers share.
 *
 *   actors.c     the threads of a scenario, in the language of ../../scenarios/; scenarios.c: the table
 *   schedule.c   the options at each step of a run; states.c: the state of a run
 *   threads.c    mutexes, cancellation, the clock
 *   process.c    private memory; fork, exec, death
 *   kernel.c     files, record locks and futexes
 *   access.c     loads and stores, atomic and plain
 *   oracles.c    invariants after each store; audit.c: invariants at the end
 *
 * A DEATH.  All threads of the process are gone.  Its bytes are unlocked, its descriptors closed,
 * its private memory is lost; its stores to the segment stay.  The running process can die before
 * each of its stores to a segment, compare-and-swaps and calls of the kernel: no other process can
 * notice what it does between these.  A process that is not running can die when another process is
 * about to check which processes live, or to take a liveness lock: no process could notice the death
 * earlier.
 *
 * BOUNDS.  A run has at most `bound` preemptions, as in ../core/explorer.h, and as many deaths, early
 * ends of a sleep and cancellations as the scenario allows.  Time stands still, and jumps to the next
 * deadline when all threads sleep.  While the lock is held, there are preemptions only before stores to
 * members that are loaded without the lock, other than as hints; access.c knows these members, and checks
 * that no others are.  A run ends at a state that an earlier run has reached with the same number of
 * preemptions or fewer.
 *
 * NOT COVERED.  Weak memory: all processes see stores in the same order.  A power failure.  Damage by
 * other programs: only the library writes to the segment.
 */
#ifndef XP_EXPLORER_H
#define XP_EXPLORER_H

#define XP_EXPLORER
#include "layer.h"

#include "fairsem/shared.h"
#include "shared/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PROCESSES = 5, AUDITOR = PROCESSES - 1,     /* the last process, which runs after all others have ended */
    FILES = 3, DESCRIPTORS = 6, BYTES = 8, SLOTS = 8,
    STACK_SIZE = 32768, HEAP_SIZE = 2048, SEGMENT_SIZE = 8192,
    STATES_MAX = 1 << 22
};

#include "../../scenarios/language.h"
#include "../engine/engine.h"

#define START_NS INT64_C(1000000000000)
#define MS       INT64_C(1000000)

/* ---- Processes and threads ---- */

enum at { READY, WANTS_MUTEX, SLEEPS, UNBORN, ENDED };

struct thread {
    struct fibre fibre;
    enum at      at;
    int          process;
    bool         exists;            /* in this scenario */
    int          op;                /* the index of its operation */
    bool         calling;           /* it is in the call of that operation */
    bool         joined;            /* it has enqueued itself in this operation */
    unsigned     what_for;          /* the purposes of its stop, a set: CAN_SWITCH ... */
    const void  *object;            /* the object that it wants or sleeps on */
    const char  *doing;             /* its next operation, in words */
    int          value;             /* of the word on which it sleeps */
    int64_t      deadline;          /* of its sleep */
    bool         time_passed;       /* its last sleep has ended by time */
    bool         woken, timed_out, cancelable, canceled, cancel_disabled, cancel_async;
    struct xp_cleanup *cleanups;
    const void  *last_loaded;       /* the address of its last atomic load; NULL after a store or a sleep */
    int64_t      saw;               /* the value of that load */
    bool         hinted;            /* its last stop was before the load of a hint: see access.c */
    int          error;             /* its errno while it is stopped */
};

struct descriptor {
    int  file;                      /* 1 + the number of the file, or 0 */
    bool stays_open;                /* across exec */
};

struct process {
    bool               lives;
    int                root;        /* its first ancestor: after a fork, addresses stay the same */
    fairsem_shared_t  *handle;
    int                opened;      /* number of opens */
    struct descriptor  fd[DESCRIPTORS];
    unsigned           mapped;      /* the set of mapped files */
    int64_t            held;        /* units that it holds, by the results of its calls */
    bool               sure;        /* it has found by `look` that the name leads to the segment of its units */
};

struct ghost {                      /* the waiter in a slot, by the stores that the oracles have seen */
    bool    waits;
    int     process, priority, share;
    int64_t arrival;
};

struct file {
    bool    made, named;
    int64_t size;
    int     liveness[BYTES];        /* 1 + the process that has locked the byte, or 0 */
    int     owner;                  /* 1 + the thread that holds the segment's lock, or 0 */
    int64_t arrivals;
    int64_t debt;                   /* how many units processes may hold in excess of a lowered total */
    struct ghost ghost[SLOTS];
};

/* The whole run, except the memory of the library. */
struct run {
    struct process process[PROCESSES];
    struct file    file[FILES];
    int64_t        now;
    int            deaths, early;
    int            named;           /* number of files that have had the name */
    int64_t        fits_ns;         /* the time since which the first waiter could be granted, or 0 */
    int64_t        fits_arrival;    /* the arrival of that waiter */
    int64_t        units;           /* the number of units of the semaphore, by the results of `capacity` */
    int64_t        perhaps;         /* the number that the last `capacity` sets, if it had an effect */
    bool           sure;            /* `look` has found the name of a segment with a changed number of units */
    int64_t        outside;         /* without undo: released minus acquired units, by the results */
    int64_t        doubtful;        /* without undo: units of calls during which the process died */
};

extern struct run run;
extern struct thread thread[THREADS];
extern bool script_attaches;        /* a process opens the segment during the exploration */

static inline int id_of(const struct thread *t)
{
    return (int)(t - thread);
}

/* schedule.c */
enum { CAN_SWITCH = 1, CAN_DIE = 2, ASKS_WHO_LIVES = 4 };   /* the purposes of a stop */
void stop(enum at at, unsigned what_for, const char *doing, const void *object);
bool can_go_on(const struct thread *t);

/* threads.c */
void sleep_until_woken(const void *object, int64_t ns, bool can_be_canceled, const char *doing);

/* process.c */
void process_learn(void);           /* save the private memory of a new process, before the first run */
void process_reset(void);
void process_enter(int process);    /* swap in the private memory of the process */
void process_dies(int process, bool inside);
void process_forks(int child);
void process_execs(void);
uint64_t process_hash(uint64_t hash);
fairsem_token_t *process_token(void);
bool process_has_threads(int process, int at_least);

/* kernel.c */
void kernel_start(void);
bool kernel_closes_all(int process, bool exec);     /* returns true if a descriptor stays open */
void kernel_loses(int process);     /* it loses its liveness locks, as by a close of another descriptor */
char *kernel_memory(int file);
/*
 * Returns the file to which the memory belongs, or -1.  Fails if the running process may not access the memory.
 */
int kernel_file_of(const void *at, size_t size, size_t *offset);

/* actors.c */
bool script_has_start(int thread);
void actors_begin(void);            /* before a run */
void act(void);

/* oracles.c */
void oracle_stored(int file, size_t offset, int64_t before, int64_t now);
void oracle_returned(const struct op *op, int result);
void oracle_time_jumps(void);
void oracle_field_words(int file, size_t offset, char *text, size_t size);
int64_t oracle_taken(int file);     /* returns how many units live processes hold, by the segment */

/* audit.c */
void audit(void);
void audit_act(void);               /* the auditor's thread */

#endif
