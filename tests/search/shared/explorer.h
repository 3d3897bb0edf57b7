/* SPDX-License-Identifier: MIT */
/*
 * explorer.h - runs the sources of the shared semaphore under every schedule and every death.
 *
 * HOW IT WORKS.  src/core/ and src/shared/ are compiled unchanged, except system/quota_linux.c and
 * shared/kernel.c.  Threads are fibres (../engine/fibre.h) of several simulated processes.  Each process
 * has private memory, which is swapped when another process goes on (process.c), descriptors, locked
 * bytes, and its own address of the segment (kernel.c).  Before each operation that another process could
 * notice, a fibre stops, and the scheduler (schedule.c) decides what happens next: a thread goes on, a
 * process dies, or a sleep ends too early or by pthread_cancel.  All answers are tried, depth first.
 * ../engine/ has the parts that both explorers share.
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
 * its private memory is lost; its stores to the segment stay.  A running process can die before
 * each store to a segment, each compare-and-swap and each call of the kernel.  No other process can
 * notice what it does in between.  A process that does not run can die whenever another one is
 * about to check which processes live, or to take a liveness lock; no process could notice an earlier death.
 *
 * BOUNDS.  At most `bound` preemptions in a run, as in ../core/explorer.h, and as many deaths, early
 * ends of a sleep and cancellations as the scenario allows.  Time stands still, and jumps to the next
 * deadline when all threads sleep.  There are no preemptions while the lock is held, except before
 * stores to members that are loaded without it; access.c checks that there are no others.  A run ends
 * in a state that an earlier run has reached with as many preemptions left.
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
    PROCESSES = 5, AUDITOR = PROCESSES - 1,     /* the last one checks after all others */
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
    bool         joined;            /* it has joined the queue in this operation */
    unsigned     what_for;          /* why it stopped */
    const void  *object;            /* that it wants or sleeps on */
    const char  *doing;             /* in words */
    int          value;             /* of a sleep, like the next one */
    int64_t      deadline;
    bool         time_passed;       /* the time of its last sleep has passed */
    bool         woken, timed_out, cancelable, canceled, cancel_disabled, cancel_async;
    struct xp_cleanup *cleanups;
    const void  *last_loaded;       /* the address of its last visible load; `saw` is the value */
    int64_t      saw;
    bool         hinted;            /* its last stop was for a hint */
    int          error;             /* errno */
};

struct descriptor {
    int  file;                      /* 1 + the number of the file, or 0 */
    bool stays_open;                /* across exec */
};

struct process {
    bool               lives;
    int                root;        /* its first ancestor, which has the same addresses */
    fairsem_shared_t  *handle;
    int                opened;      /* number of opens */
    struct descriptor  fd[DESCRIPTORS];
    unsigned           mapped;      /* the set of mapped files */
    int64_t            held;        /* units, by the results of its calls */
    bool               sure;        /* the name led to the segment while it held units of it */
};

struct ghost {                      /* a slot, as the oracles have seen it */
    bool    waits;
    int     process, priority, share;
    int64_t arrival;
};

struct file {
    bool    made, named;
    int64_t size;
    int     liveness[BYTES];        /* 1 + the process that has locked it */
    int     owner;                  /* of the segment's lock: 1 + a thread */
    int64_t arrivals;
    int64_t debt;                   /* units that must come back, because their number was lowered */
    struct ghost ghost[SLOTS];
};

/* All of a run, except memory of the library. */
struct run {
    struct process process[PROCESSES];
    struct file    file[FILES];
    int64_t        now;
    int            deaths, early;
    int            named;           /* number of files that have had the name */
    int64_t        fits_ns;         /* the time since which the first waiter fits, or 0 */
    int64_t        fits_arrival;    /* the arrival of that waiter */
    int64_t        units;           /* the number of units, by the results of `set` */
    int64_t        perhaps;         /* the other possible number, while `set` is called */
    bool           sure;            /* the name led to the segment after their number was changed */
    int64_t        outside;         /* without undo: released minus acquired units, by the results */
    int64_t        doubtful;        /* without undo: units of calls in which their process died */
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
void process_learn(void);           /* save private memory before the first run */
void process_reset(void);
void process_enter(int process);    /* swap in its private memory */
void process_dies(int process, bool inside);
void process_forks(int child);
void process_execs(void);
uint64_t process_hash(uint64_t hash);
fairsem_token_t *process_token(void);
bool process_has_threads(int process, int at_least);

/* kernel.c */
void kernel_start(void);
bool kernel_closes_all(int process, bool exec);
void kernel_loses(int process);     /* its liveness locks, as when another descriptor of the file is closed */
char *kernel_memory(int file);
/* Returns the file of the memory, or -1.  Fails if the process may not access it. */
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
int64_t oracle_taken(int file);     /* by live processes */

/* audit.c */
void audit(void);
void audit_act(void);               /* in the auditor's thread */

#endif
