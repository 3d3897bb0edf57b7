/* SPDX-License-Identifier: MIT */
/*
 * engine.h - the common part of the explorers: fibres, decisions, the search, known states, the report.
 *
 * The explorers are ../core/ and ../shared/.  Each runs sources of the library under every schedule.  The
 * build.sh of an explorer compiles the engine again, against that explorer's explorer.h, which must declare:
 *
 *   struct scenario  with `name` and `threads`, its text; the table `scenarios`, `scenarios_count`
 *   struct thread    with `fibre`, `at` (one of its values is ENDED), `error`, `cleanups`,
 *                    `cancel_disabled`, `cancel_async`; the array `thread[THREADS]`, id_of()
 *   STACK_SIZE, HEAP_SIZE, STATES_MAX
 *
 *   fibre.c       fibres: threads without the kernel; stacks.c: their stacks, and the library's private memory
 *   run.c         one run: the loop over its steps, failures, the trace
 *   search.c      the decisions of a run, and all runs
 *   seen.c        known states, which need not be searched again
 *   shorten.c     the shortest schedule that still fails
 *   static_*.c    the library's static variables lie between the variables of these two files
 *   instrument.c  the calls that the compiler inserts before each access (-fsanitize=thread)
 *   layer.h       the calls of the library that go to an explorer; posix.c: some of these calls
 *   command.c     the command line, and the report
 *
 * Below, "The explorer's part" stands before functions that an explorer defines.
 */
#ifndef XP_ENGINE_H
#define XP_ENGINE_H

#include "fibre.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scenario;
struct thread;

/* ---- run.c: one run ---- */

extern struct thread *self;         /* the running thread; NULL in the scheduler, or outside of a run */
extern const struct scenario *scenario;
extern int preemptions;             /* of this run, so far */
extern bool quiet;                  /* operations do not stop the running thread now */
extern bool tracing;
extern char why_failed[1000];

/* Stop the running thread, and go on with the scheduler.  Keeps errno. */
void leave(void);
/* Continue the thread until it stops. */
void resume(struct thread *t);
void count_step(void);              /* fails if there are too many steps */
_Noreturn void fail(const char *oracle, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Do one run.  Returns false if it failed.  *merged: it ended at a known state. */
bool run_once(bool *merged);

/* The explorer's part, in its schedule.c. */
void run_begins(void);
int  run_options(struct thread *current);       /* returns the number of possible next steps, perhaps 0 */
struct thread *run_takes(struct thread *current, int option);   /* take a step; returns its thread */
void run_ends(void);                            /* no step is possible */
uint64_t state_now(const struct thread *current);

/* ---- search.c: all runs ---- */

struct limits {
    int    bound;           /* preemptions */
    double seconds;         /* 0 for no limit */
    long   runs;            /* 0 for all */
    bool   merge;           /* a run ends at a known state */
    bool   own;             /* the explorer's own bound applies: of stale loads, or of deaths */
    int    own_bound;
    bool   by_chance;       /* `runs` random schedules, without merging */
    bool   quiet;           /* a failure is not printed */
};
extern struct limits limits;

struct outcome {
    long   runs, merged;    /* numbers of schedules that ran to the end, or to a known state */
    double seconds;
    bool   complete, failed;
};

struct outcome explore(const struct scenario *what, struct limits limits);
bool replay(const struct scenario *what, struct limits with, const char *decisions);
bool fails_at(const struct scenario *what, struct limits with, const char *decisions);
const char *failed_schedule(void);      /* the decisions of the last run that have not the first answer */
double seconds_now(void);

int  choose(int answers);       /* make a decision: returns an answer from 0 to answers - 1 */
void decisions_begin(void);     /* before a run */
bool decisions_are_new(void);   /* have all decisions been made that repeat an earlier run? */
void decisions_forget(void);    /* before the first run */
bool decisions_next(void);      /* prepare the next run; returns false if there is none */

/* The explorer's part. */
bool script_read(const struct scenario *what);      /* script.c */
void search_begins(void);                           /* schedule.c: forget the last scenario */

/* ---- seen.c: known states ---- */

uint64_t mix(uint64_t hash, const void *from, size_t size);     /* hash any memory to 64 bits */
uint64_t mix_thread(uint64_t hash, const struct thread *t);     /* hash a thread and its stack */
void states_forget(void);
/* Has an earlier run reached this state at the same cost or a lower one?  If not, record the state. */
bool states_seen(uint64_t state, int cost);

/* ---- shorten.c ---- */

void note_oracle(void);         /* note the oracle by which the last run failed */
bool same_oracle(void);         /* did the last run fail by the noted oracle? */
/* Shorten a schedule that fails by the noted oracle. */
void shorten(const struct scenario *what, struct limits with, char *schedule, size_t size);

/* ---- stacks.c: memory ---- */

char *stack_top(int id);
int   stack_owner(const void *at);      /* returns the thread on whose stack `at` is, or -1 */
void  stacks_clear(void);               /* before a run, so that equal states have equal stacks */

extern char xp_data_first[], xp_data_last[], xp_bss_first[], xp_bss_last[];
enum { STATICS_SIZE = 8192 };
bool  in_statics(const void *at);
void  statics_check(void);              /* exits if the variables are not together */

void *heap_take(size_t size);           /* zeroed; blocks are never reused */
int   heap_offset(const void *at);      /* returns -1 if not in the heap */

/* A copy of the library's own memory, without the memory of its users. */
struct image {
    char   statics[STATICS_SIZE], heap[HEAP_SIZE];
    size_t heap_used;
};
void  image_save(struct image *to);
void  image_load(const struct image *from);
uint64_t image_hash(uint64_t hash, const struct image *image);  /* image may be NULL: hash the memory itself */

/* ---- instrument.c: accesses ---- */

/* The explorer's part, in its access.c. */
enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_CHANGE, ACCESS_SWAP };
void access_plain(const void *at, size_t size, bool write, const void *pc);
void access_begins(const void *at, size_t size, enum access_kind kind, const void *pc);
/* Returns the value that the load sees.  Memory has the value `newest`. */
int64_t access_load(const void *at, size_t size, int64_t newest, int order, const void *pc);
/* Does memory change to this value? */
bool access_stores(const void *at, size_t size, int64_t value, enum access_kind kind, int order,
                   const void *pc);
bool access_swap_fails(const void *at, size_t size, int64_t newest, int64_t *expected, int order,
                       const void *pc);
void access_stored(const void *at, size_t size, int64_t before, int64_t now);
void access_fence(int order);

/* The calling instruction, for the trace. */
#define CALLER __builtin_return_address(0)

/* ---- posix.c ---- */

_Noreturn void act_on_cancel(void);
void catch_crashes(void);

/* The explorer's part, in its threads.c and actors.c. */
_Noreturn void thread_ends(void);
bool cancel_strikes(void);      /* is the running thread canceled at this point? */

/* ---- command.c: the command line ---- */

_Noreturn void refuse(const char *why, const char *what);   /* exit: the search could not run */
const char *argument(void);             /* returns the next argument; calls refuse() if there is none */
char **arguments_left(int *count);
double number(void);
const struct scenario *find(const char *name);
extern struct limits asked;             /* the limits in the options */
extern int part, parts;         /* this process runs every `parts`th scenario, from number `part` on */

/* The explorer's part, in its main.c. */
extern const char program_name[];
extern const char own_help[];           /* lines about its own options, and about names of scenarios */
extern const char own_heading[];        /* the heading of its own column of the report, or "" */
extern const char own_events[];         /* what limits.own_bound limits */
void begin_program(const char *first);  /* before anything runs; first: argv[1], or "" */
enum { GO_ON = -1, NO_SUCH_OPTION = -2 };
int  own_option(const char *option);    /* returns GO_ON, NO_SUCH_OPTION, or the exit status */
const struct scenario *own_scenario(const char *name);      /* a scenario that is not in the table, or NULL */
bool own_limits(const struct scenario *what, struct limits *with);  /* returns false to omit the scenario */
void print_own(void);                   /* print its own column of the report */
bool end_program(void);                 /* returns false if the program has failed */

#endif
