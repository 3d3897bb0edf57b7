/* SPDX-License-Identifier: MIT */
/*
 * language.h - scenarios in words: what threads do with semaphores, tickets and a token, and what
 * that must result in.  scenarios.c is the table.
 *
 * Operations are separated by `;`, threads by `|`, or by `>` if the second thread starts only when
 * the one before it waits or has ended.  A thread that begins with
 *
 *     !      may be hit by pthread_cancel at any moment, in one of its waits
 *
 * and the operations are those of verbs.h, with a number if that says so, and, where it makes
 * sense: pN (priority), tN (thread N, or its ticket; by default its own), sN (semaphore N), `token`
 * (the wait carries it), `timed` (watch, drain), `past` (the deadline has passed already), `calls`
 * (take, with a callback), `if` (only if the thread holds units).  A number may be `max`, the most
 * units there are, or `min`, the lowest number.
 *
 * An operation ends with `= RESULT`, or `= RESULT or RESULT`, if these are the only ones that it may
 * have: an error's name or any number, the state of a ticket, or `killed` for a call that
 * pthread_cancel ended.  A scenario with `>` and without `|` is determined: in it a call that says
 * no result returns 0.  (To be determined, a scenario of one thread begins with `>`.)
 *
 * The operations of a callback are one word, with `+` between them and dots for blanks, as in
 * calls=claim+give or calls=return+take.1.again.  Their ticket is the callback's own, and a take
 * with `again` gets the same callback.  A thread does at most four operations in callbacks; further
 * ones are only noted.
 *
 * A thread that is canceled releases what it holds, and ends.
 */
#ifndef LANGUAGE_H
#define LANGUAGE_H

#include <fairsem.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    THREADS = 4, SEMS_MAX = 2,

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
    int         spurious;   /* at most so many spurious wake-ups, per run */
    int         signals;    /* and so many signals into sleeps */
    const char *handler;    /* what the handler does, an operation; NULL: nothing */
    bool        cold;       /* no thread has waited in this process: there are no parkers yet */
    int         no_memory;  /* at most so many calls of malloc fail */
    int64_t     bypass_ns;  /* 0: strict order */
    int64_t     aging_ns;   /* 0: no request becomes old */

    /* The state of its semaphores and its token when the threads start. */
    int64_t     max_waiters;
    bool        paused;     /* the capacity has been set to 0 */
    int64_t     debt;       /* so many units have been consumed */
    int         closed;     /* the reason; 0: open */
    int         canceled;   /* the token; the reason, 0: not */

    bool        may_block;  /* threads may wait for ever if they do in the model, too */
};

extern const struct scenario scenarios[];
extern const int scenarios_count;

#define MOMENT_NS 1000  /* at least so much time passes in LATER */

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

enum { A_SEM = 1, A_TICKET = 2, A_TOKEN = 4, A_THREAD = 8 };
enum { PRIORITY = 1, TOKEN = 2, TIME = 4 };

struct verb_row {
    const char *word;           /* in the language */
    unsigned    of;             /* the objects that it is called with, or its thread; a set */
    enum { NO_NUMBER, UNITS, OPTIONAL } number; /* 0: the usual reason, or a thread's end */
    unsigned    with;           /* what a generated one may have; a set */
    bool        waits, deadline, inspects;      /* `timed`, too, makes a deadline */
    enum {
        NO_CHANGE,
        TAKES, TAKES_SOME,      /* n units, or as many as it returns, for its thread */
        CONSUMES,               /* n, for nobody */
        RESERVES, CLAIMS,       /* n for a ticket; the ticket's for its thread */
        GIVES
    } units;
    int         drawn;          /* how often generate.c takes it, beside the others */
    enum verb   simpler;        /* what minimize.c tries in its place */
    enum verb   counts_as;      /* the verb with which it is counted when operations meet */
    unsigned    returns;        /* what fairsem.h lists, a set of enum result; 0: no call of it */
    unsigned    never;          /* those of them that no scenario can have */
    const char *why_never;
};
extern const struct verb_row verbs[VERBS];

/* ---- Operations ---- */

#define RESULT_CANCELED INT64_MIN   /* it did not return: pthread_cancel ended its thread */

struct op {
    enum verb verb;
    int64_t   n;
    int       priority;
    int       ticket;       /* a thread: whose ticket it is, or which thread to kill */
    int       sem;
    bool      token, timed, past, calls;
    bool      if_held;      /* only if this thread holds units */
    int       callback;     /* its operations: a place in callback_script; 0: it is only counted */
    int       results;      /* how many it may have; 0: any */
    int64_t   result[2];
};

/* The units that a call for n units has got for its thread. */
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
extern bool script_cancelable[THREADS], script_follows[THREADS], script_is_determined;
extern struct op callback_script[CALLBACKS_MAX][CALLBACK_OPS];
extern int callback_ops[CALLBACKS_MAX], callbacks_count;    /* from 1 on */
extern int place[CALLS], places;    /* the calls that can happen */
extern bool script_quiet_parkers;   /* getting and returning a parker is no stop */

bool script_read(const struct scenario *what);  /* false: these words are no scenario */
bool script_uses(enum verb verb);
const char *script_error(int64_t result);       /* an errno value's name, or "" */

/* What the threads use: each player has them. */
extern fairsem_t sems[SEMS_MAX];
extern fairsem_token_t the_token;
extern fairsem_ticket_t tickets[THREADS];

#endif
