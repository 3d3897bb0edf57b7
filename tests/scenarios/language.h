/* SPDX-License-Identifier: MIT */
/*
 * language.h - scenarios in words: operations of threads on semaphores, tickets and a token, and their
 * correct results.  scenarios.c is the table; that of ../search/shared/ is of processes.
 *
 * Operations are separated by `;`, threads by `|`, or by `>` if the second thread starts only when
 * the one before it waits or has ended, and processes by `||`.  A thread that begins with
 *
 *     !      may be hit by pthread_cancel at any moment, in one of its waits
 *
 * and the operations are those of verbs.h, with a number if verbs.h says so.  Where they make sense, these
 * words may follow: pN (priority), hN (share 1, 2 or 3, of weight 1, 1 and 3), tN (thread N, or its ticket;
 * default: its own), sN (semaphore N), `token` (the wait has the token), `timed` (watch, drain), `past` (the
 * deadline has passed already), `calls` (take, with a callback), `if` (only if the thread holds units).  A number
 * may be `max`, the largest number of units, or `min`, the smallest.
 *
 * `= RESULT`, or `= RESULT or RESULT`, at the end of an operation lists its only correct results: the name
 * of an error, a number, the state of a ticket, or `killed` for a call that pthread_cancel ended.  A
 * scenario with `>` and without `|` is determined: in it a call without a result must return 0.  (A
 * determined scenario of one thread begins with `>`.)
 *
 * The operations of a callback are one word, with `+` between them and dots for blanks:
 * calls=claim+give, calls=return+take.1.again.  They use the callback's own ticket, and a take
 * with `again` has the same callback.  A thread does at most four operations in callbacks; further
 * ones are only noted.
 *
 * A thread that is canceled releases what it holds, and ends.
 *
 * Between processes the semaphore is in a segment, which `open` opens; each process has a token, and keeps
 * the units of a canceled thread.  Such a scenario has no `>` and no handler, and of the words behind an
 * operation only pN, hN and `token`.  Operations before a `start` come before the exploration, in the order of the
 * text: a thread that must wait in one of them is waiting when the exploration begins.
 */
#ifndef LANGUAGE_H
#define LANGUAGE_H

#include <fairsem.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    THREADS = 4, SEMS_MAX = 2, SHARES = 3,

    /* Places after a thread's operations: in a signal handler, when canceled, in callbacks. */
    IN_HANDLER = 10, WHEN_CANCELED, IN_CALLBACK, CALLBACK_PLACES = 4,
    OPS_MAX = IN_CALLBACK + CALLBACK_PLACES,
    CALLS = THREADS * OPS_MAX,      /* at most 64: the explorer has sets of them */

    CALLBACKS_MAX = 6, CALLBACK_OPS = 3, TEXT_MAX = 700
};

/* ---- Scenarios ---- */

struct scenario {
    const char *name;
    const char *threads;
    int64_t     units, capacity;
    unsigned    flags;      /* of all its semaphores */
    int         spurious;   /* limit of spurious wake-ups, per run */
    int         signals;    /* limit of signals into sleeps, per run */
    const char *handler;    /* what the handler does, an operation; NULL: nothing */
    bool        cold;       /* no thread has waited in this process: there are no parkers yet */
    int         no_memory;  /* limit of failing calls of malloc */
    int64_t     bypass_ns;  /* 0 means strict order */
    int64_t     aging_ns;   /* 0 means no aging */

    /* The state of its semaphores and its token when the threads start. */
    int64_t     max_waiters;
    bool        paused;     /* the capacity has been set to 0 */
    int64_t     debt;       /* number of units that have been consumed */
    int         closed;     /* the reason, or 0 if open */
    int         canceled;   /* the token's reason, or 0 if not canceled */

    bool        may_block;  /* threads may wait for ever if they do in the model, too */

    /* Of processes. */
    int         deaths;     /* limit of deaths, per run */
    int         mortal;     /* the set of processes that can die, or 0 for all */
    int         early;      /* limit of sleeps that end before their time, per run */
    int         for_ms;     /* the time that `for` waits; 0 means 150 */
    int         bound;      /* preemptions, or 0 for the bound of the command line */
    int         max_processes;  /* 0 means enough */
    bool        no_undo;    /* FAIRSEM_SHARED_NO_UNDO */
    bool        interrupted;    /* a signal ends each sleep just before its time has passed */
    bool        thorough;   /* too long for `make check` */
};

extern const struct scenario scenarios[];
extern const int scenarios_count;

#define MOMENT_NS 1000  /* the least time that passes in LATER */

/* ---- Verbs ---- */

enum verb {
    NO_VERB,
#define VERB(name, ...) name,
#include "verbs.h"
#undef VERB
    VERBS
};

/* Kinds of results. */
enum result {
    GOT_OK, GOT_SOME, GOT_EINPROGRESS, GOT_EINVAL, GOT_E2BIG, GOT_ENOBUFS, GOT_EAGAIN,
    GOT_ETIMEDOUT, GOT_EINTR, GOT_EOVERFLOW, GOT_EALREADY, GOT_EBUSY, GOT_ECANCELED, GOT_TOKEN,
    GOT_CLOSED, GOT_PTHREAD_CANCEL, GOT_NEVER, RESULTS
};

enum { A_SEM = 1, A_TICKET = 2, A_TOKEN = 4, A_THREAD = 8, A_PROCESS = 16, A_SHARE = 32 };
enum { PRIORITY = 1, TOKEN = 2, TIME = 4, SHARE = 8 };

struct verb_row {
    const char *word;           /* in the language */
    unsigned    of;             /* the objects that it is called with, or its thread; a set */
    enum { NO_NUMBER, UNITS, OPTIONAL } number; /* number 0 is the usual reason, or a thread's end */
    unsigned    with;           /* what a generated operation may have; a set */
    bool        waits, deadline, inspects;      /* `timed` makes a deadline, too */
    enum {
        NO_CHANGE,
        TAKES, TAKES_SOME,      /* n units, or as many as it returns, for its thread */
        CONSUMES,               /* n, for nobody */
        RESERVES, CLAIMS,       /* n for a ticket; the ticket's for its thread */
        GIVES
    } units;
    int         drawn;          /* its weight in generate.c */
    enum verb   simpler;        /* what minimize.c tries in its place */
    enum verb   counts_as;      /* coverage.c counts it as this verb */
    unsigned    returns;        /* results that fairsem.h lists: a set of enum result, empty if it is not a call */
    unsigned    never;          /* those of them that no scenario can have */
    const char *why_never;
};
extern const struct verb_row verbs[VERBS];

/* ---- Operations ---- */

#define RESULT_CANCELED INT64_MIN   /* the call did not return: pthread_cancel ended its thread */

struct op {
    enum verb verb;
    int64_t   n;
    int       priority;
    int       ticket;       /* a thread: whose ticket it is, or which thread to kill */
    int       sem;
    int       share;        /* 1 .. SHARES, or 0 for none */
    bool      token, timed, past, calls;
    bool      if_held;      /* only if this thread holds units */
    int       callback;     /* index of its operations in callback_script, or 0 if it is only counted */
    int       results;      /* number of correct results; 0 means any */
    int64_t   result[2];
};

/* The number of units that a call for n units got for its thread. */
static inline int64_t units_got(const struct op *op, int64_t n, int64_t result)
{
    switch (verbs[op->verb].units) {
    case TAKES: case CLAIMS: return result == 0 ? n : 0;
    case TAKES_SOME:         return result;
    default:                 return 0;
    }
}

/* Does it ask for n units, which are then its thread's? */
static inline bool takes_n(const struct op *op)
{
    return verbs[op->verb].units == TAKES;
}

static inline int weight_of_share(int share)
{
    return share == 3 ? 3 : 1;
}

static inline bool has_deadline(const struct op *op)
{
    return verbs[op->verb].deadline || op->timed;
}

static inline bool may_result(const struct op *op, int64_t result)
{
    return op->results == 0 || op->result[0] == result
           || (op->results == 2 && op->result[1] == result);
}

/* ---- The scenario that has been read ---- */

extern struct op script[THREADS][OPS_MAX];
extern int threads_count, ops_count[THREADS], sems_count, tickets_count;
extern int script_process[THREADS];     /* the number of a thread's process */
extern bool script_cancelable[THREADS], script_follows[THREADS], script_is_determined, script_has_processes;
extern struct op callback_script[CALLBACKS_MAX][CALLBACK_OPS];
extern int callback_ops[CALLBACKS_MAX], callbacks_count;    /* from 1 on */
extern int place[CALLS], places;    /* of the calls that can happen */
extern bool script_uses_shares;
extern bool script_quiet_parkers;   /* threads do not stop where they get or return a parker */

bool script_read(const struct scenario *what);  /* returns false if the words are not a scenario */
bool script_uses(enum verb verb);
const char *script_error(int64_t result);       /* an errno value's name, or "" */

/* words.c */
const char *op_words(const struct op *op, char *text, size_t size);
bool threads_words(char *text, size_t size);        /* of the script that has been read */
void scenario_words(const struct scenario *what, char *text, size_t size);
const struct scenario *scenario_of_words(const char *words);

/* The objects of the threads; each player defines them. */
extern fairsem_t sems[SEMS_MAX];
extern fairsem_token_t the_token;
extern fairsem_ticket_t tickets[THREADS];
extern fairsem_share_t shares[SHARES];      /* share 1 is the first */

static inline fairsem_share_t *share_of(const struct op *op)
{
    return op->share != 0 ? &shares[op->share - 1] : NULL;
}

#endif
