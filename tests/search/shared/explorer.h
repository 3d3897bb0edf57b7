/* SPDX-License-Identifier: MIT */
/*
 * explorer.h - runs the sources of the shared semaphore under every schedule and every death.
 *
 * HOW IT WORKS.  src/core/ and src/shared/ are compiled unchanged, except system/quota_linux.c and
 * shared/kernel.c.  Threads are fibres (../engine/fibre.h) of several simulated processes.  Each process
 * has private memory, which is swapped when another process goes on (process.c), descriptors, locked
 * bytes, and its own address of the segment (kernel.c).  Before each operation that another process could notice a
 * fibre stops, and the scheduler (schedule.c) decides what happens next: which thread goes on; that
 * a process dies; that a sleep ends too early, or by pthread_cancel.  All answers are tried, depth
 * first.  ../engine/ does what is the same for the other explorer.
 *
 *   script.c     what the processes do, in words; scenarios.c: the table
 *   schedule.c   the options at each step of a run; states.c: what a state is
 *   threads.c    mutexes, cancellation, the clock
 *   process.c    private memory; fork, exec, death
 *   kernel.c     files, record locks and futexes
 *   access.c     loads and stores, atomic and plain
 *   oracles.c    what must be true after each store; audit.c: what must be true at the end
 *
 * A DEATH.  All threads of the process are gone.  Its bytes are unlocked, its descriptors closed,
 * its private memory is lost; its stores to the segment stay.  A running process can die before
 * each store to a segment, each compare-and-swap and each call of the kernel.  No other process can
 * notice what it does in between.  A process that does not run can die whenever another one is
 * about to check which processes live, or to take a liveness lock; no process could notice an earlier death.
 *
 * WHAT BOUNDS IT.  At most `bound` preemptions in a run, as in ../core/explorer.h, and as many
 * deaths, early ends of a sleep and cancellations as the scenario says.  Time stands still, and
 * jumps to the next deadline when all sleep.  There is no preemption with the lock held, except
 * before stores to members that are loaded without it; access.c checks that there are no others.  A
 * run ends in a state that an earlier run has reached with as many preemptions left.
 *
 * WHAT IT DOES NOT COVER.  Weak memory: all processes see the stores in the same order.  A power
 * failure.  Damage by other programs: only the library writes to the segment.
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
    THREADS = 6, FILES = 3, DESCRIPTORS = 6, BYTES = 8, SLOTS = 8, OPS = 8,
    STACK_SIZE = 32768, HEAP_SIZE = 2048, SEGMENT_SIZE = 8192,
    STATES_MAX = 1 << 22
};

#include "../engine/engine.h"

#define START_NS INT64_C(1000000000000)
#define MS       INT64_C(1000000)

/* ---- Scenarios ---- */

struct scenario {
    const char *name, *threads; /* in the language of script.c */
    int64_t     units, capacity;
    int         deaths;         /* at most so many */
    unsigned    mortal;         /* which processes can die, a set; 0: all */
    int         early;          /* sleeps that end before their time */
    int         for_ms;         /* how long `for` waits; 0: 150 */
    unsigned    flags;          /* of the segment */
    int         bound;          /* preemptions; 0: as the command line says */
    int         max_waiters, max_processes;     /* 0: enough */
    int         aging_ms;       /* 0: no request becomes old */
    bool        signals;        /* each sleep ends by one just before its time is over */
    bool        thorough;       /* too long for `make check` */
};
extern const struct scenario scenarios[];
extern const int scenarios_count;

enum verb {
    OPEN, ANONYMOUS, CLOSE, UNLINK, DROP, LOOK,
    ACQUIRE, URGENT, CANCELABLE, BY_TOKEN, TRY, FOR, RELEASE, SET, CANCEL,    /* this order matters */
    FORK, EXEC, EXIT, KEEP, LOSE, INSPECT, NAP, START, VERBS
};

struct op {
    enum verb verb;
    int64_t   n;
};

/* ---- Processes and threads ---- */

enum at { READY, WANTS_MUTEX, SLEEPS, UNBORN, ENDED };

struct thread {
    struct fibre fibre;
    enum at      at;
    int          process;
    bool         exists;            /* in this scenario */
    int          op;                /* which of its operations */
    bool         calling;           /* it is in that call */
    bool         joined;            /* the queue, in this operation */
    unsigned     what_for;          /* why it stopped */
    const void  *object;            /* which it wants or sleeps on */
    const char  *doing;             /* in words */
    int          value;             /* for a sleep: */
    int64_t      deadline;
    bool         time_passed;       /* in its last sleep */
    bool         woken, timed_out, cancelable, canceled, cancel_disabled, cancel_async;
    struct xp_cleanup *cleanups;
    const void  *last_loaded;       /* by its last visible load, and the value */
    int64_t      saw;
    bool         hinted;            /* it has stopped for a hint, and for nothing else since */
    int          error;             /* errno */
};

struct descriptor {
    int  file;                      /* 1 + which; 0: none */
    bool stays_open;                /* across exec */
};

struct process {
    bool               lives;
    int                root;        /* its first ancestor, which has the same addresses */
    fairsem_shared_t  *handle;
    int                opened;      /* how often */
    struct descriptor  fd[DESCRIPTORS];
    unsigned           mapped;      /* files, a set */
    int64_t            held;        /* units, by the results of its calls */
    bool               sure;        /* it held units, and then the name led to their segment */
};

struct ghost {                      /* a slot, as the oracles have seen it */
    bool    waits;
    int     process, priority;
    int64_t arrival;
};

struct file {
    bool    made, named;
    int64_t size;
    int     liveness[BYTES];        /* 1 + the process that has locked it */
    int     owner;                  /* of the segment's lock: 1 + a thread */
    int64_t arrivals;
    int64_t debt;                   /* units taken before there were fewer, which must come back */
    struct ghost ghost[SLOTS];
};

/* All of a run, except memory of the library. */
struct run {
    struct process process[PROCESSES];
    struct file    file[FILES];
    int64_t        now;
    int            deaths, early;
    int            named;           /* how many files have had the name */
    int64_t        fits_ns;         /* since when the first waiter fits; 0: it does not */
    int64_t        fits_arrival;    /* the arrival of that one */
    int64_t        units;           /* as many as there are, by the results of `set` ... */
    int64_t        perhaps;         /* ... or so many, while it is called */
    bool           sure;            /* they are others than at first, and then the name led to that segment */
    int64_t        outside;         /* without undo: released less acquired, by the results */
    int64_t        doubtful;        /* ... units of calls in which their process died */
};

extern struct run run;
extern struct thread thread[THREADS];
extern struct op script[THREADS][OPS];
extern int ops_count[THREADS];
extern bool script_attaches;        /* a process opens the segment during the exploration */

static inline int id_of(const struct thread *t)
{
    return (int)(t - thread);
}

/* schedule.c */
enum { CAN_SWITCH = 1, CAN_DIE = 2, ASKS_WHO_LIVES = 4 };   /* what a stop is for */
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
/* Which file is it in?  -1: none.  Fails if the process may not touch it. */
int kernel_file_of(const void *at, size_t size, size_t *offset);

/* script.c */
bool script_has_start(int thread);
void script_act(void);
extern const char *const verb_name[VERBS];

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
