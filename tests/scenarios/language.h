/* SPDX-License-Identifier: MIT */
/*
 * language.h - scenarios in words: operations of threads on semaphores, tickets and a token, and their
 * correct results.  The table of scenarios is scenarios.c; ../search/shared/ has a table for processes.
 *
 * Operations are separated by `;`, threads by `|`, processes by `||`.  With `>` in place of `|`, the next
 * thread starts only when all threads before it wait or have ended.  A thread that begins with
 *
 *     !      may be canceled (pthread_cancel) at any moment, in one of its waits
 *
 * verbs.h lists the operations, and says which have a number.  The number may be `max`, the largest number of
 * units, or `min`, INT64_MIN.  These words may follow, where they make sense:
 *
 *     pN     priority N                               token  the wait has the token
 *     hN     share 1, 2 or 3, of weight 1, 1 or 3     timed  the wait has a deadline (watch, drain)
 *     sN     semaphore N                              past   the deadline has passed already
 *     tN     thread N or its ticket; the default      calls  the ticket has a callback (take)
 *            is the thread's own ticket               if     only if the thread holds units
 *
 * `= RESULT`, or `= RESULT or RESULT`, at the end of an operation lists its only correct results: the name
 * of an error, a number, the state of a ticket, or `killed` for a call that pthread_cancel ended.  A
 * scenario with `>` and without `|` is determined: its calls without a result must return 0.  (A
 * determined scenario of one thread begins with `>`.)
 *
 * The operations of a callback are one word, with `+` between them and dots for blanks:
 * calls=claim+give, calls=return+take.1.again.  These operations use the callback's own ticket, and a take
 * with `again` has the same callback.  The explorer plays at most four operations of a thread in callbacks, and
 * skips the rest.
 *
 * A thread that is canceled releases the units that it holds, and ends.
 *
 * In a scenario of processes, the semaphore is in a segment, which `open` opens.  Each process has a token,
 * and keeps the units of a canceled thread.  A scenario of processes has no `>` and no handler, and only pN,
 * hN and `token` may follow an operation.  Operations before a `start` come before the exploration, in the
 * order of the text.  A thread that must wait in such an operation is waiting when the exploration begins.
 */
#ifndef LANGUAGE_H
#define LANGUAGE_H

#include <fairsem.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    THREADS = 4, SEMS_MAX = 2, SHARES = 3,

    /* Indexes behind a thread's operations: the handler's, the release of a canceled thread, callbacks'. */
    IN_HANDLER = 10, WHEN_CANCELED, IN_CALLBACK, CALLBACK_PLACES = 4,
    OPS_MAX = IN_CALLBACK + CALLBACK_PLACES,
    CALLS = THREADS * OPS_MAX,      /* at most 64: the explorer has sets of calls */

    CALLBACKS_MAX = 6, CALLBACK_OPS = 3, TEXT_MAX = 700
};

/* ---- Scenarios ---- */

struct scenario {
    const char *name;
    const char *threads;
    int64_t     units, capacity;
    unsigned    flags;      /* of all semaphores */
    int         spurious;   /* limit of spurious wake-ups, per run */
    int         signals;    /* limit of signals into sleeps, per run */
    const char *handler;    /* the operation of the signal handler, or NULL for none */
    bool        cold;       /* no thread has waited in this process: there are no parkers yet */
    int         no_memory;  /* limit of failing calls of malloc */
    int64_t     bypass_ns;  /* 0 means strict order */
    int64_t     aging_ns;   /* 0 means no aging */

    /* The state of the semaphores and of the token when the threads start. */
    int64_t     max_waiters;
    bool        paused;     /* the capacity has been set to 0 */
    int64_t     debt;       /* number of units that have been consumed */
    int         closed;     /* the reason, or 0 if open */
    int         canceled;   /* the token's reason, or 0 if not canceled */

    bool        may_block;  /* threads may wait for ever if the threads of the model do */

    /* Only for scenarios of processes. */
    int         deaths;     /* limit of deaths, per run */
    int         mortal;     /* the set of processes that can die, or 0 for all */
    int         early;      /* limit of sleeps that end before their time, per run */
    int         for_ms;     /* the time that `for` waits; 0 means 150 */
    int         bound;      /* limit of preemptions, or 0 for the limit of the command line */
    int         max_processes;  /* of the segment; 0 means enough for any scenario */
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
    unsigned    of;             /* the objects of the call, such as A_SEM; a set */
    enum { NO_NUMBER, UNITS, OPTIONAL } number; /* OPTIONAL: 0 is the usual reason, or the end of a thread */
    unsigned    with;           /* what a generated operation may have; a set */
    bool        waits, deadline, inspects;      /* an operation with `timed` has a deadline as well */
    enum {
        NO_CHANGE,
        TAKES, TAKES_SOME,      /* n units, or as many as the result says, for the calling thread */
        CONSUMES,               /* n units, for no thread */
        RESERVES, CLAIMS,       /* n units for a ticket; the ticket's units for the calling thread */
        GIVES
    } units;
    int         drawn;          /* the verb's weight in generate.c */
    enum verb   simpler;        /* the verb that minimize.c tries instead */
    enum verb   counts_as;      /* the verb under which coverage.c counts this verb */
    unsigned    returns;        /* results that fairsem.h lists: a set of enum result, empty if not a call */
    unsigned    never;          /* members of `returns` that no scenario can have */
    const char *why_never;
};
extern const struct verb_row verbs[VERBS];

/* ---- Operations ---- */

#define RESULT_CANCELED INT64_MIN   /* the call did not return: pthread_cancel ended its thread */

struct op {
    enum verb verb;
    int64_t   n;
    int       priority;
    int       ticket;       /* number of a thread: the owner of the ticket, or the thread of kill or after */
    int       sem;
    int       share;        /* 1 .. SHARES, or 0 for none */
    bool      token, timed, past, calls;
    bool      if_held;      /* only if this thread holds units */
    int       callback;     /* index in callback_script, or 0 if the callback is only counted */
    int       results;      /* number of correct results; 0 means any */
    int64_t   result[2];
};

/* Returns how many units a call for n units got for its thread. */
static inline int64_t units_got(const struct op *op, int64_t n, int64_t result)
{
    switch (verbs[op->verb].units) {
    case TAKES: case CLAIMS: return result == 0 ? n : 0;
    case TAKES_SOME:         return result;
    default:                 return 0;
    }
}

/* Does the operation request n units for its thread? */
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
extern int callback_ops[CALLBACKS_MAX], callbacks_count;    /* callbacks are numbered from 1 on */
extern int place[CALLS], places;    /* indexes of the calls that can happen, and their number */
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
extern fairsem_share_t shares[SHARES];      /* share 1 is shares[0] */

static inline fairsem_share_t *share_of(const struct op *op)
{
    return op->share != 0 ? &shares[op->share - 1] : NULL;
}

#endif
