/* SPDX-License-Identifier: MIT */
/*
 * explorer.h - executions of small programs by the axioms of C11, as herd does it: a second opinion
 * about memory orders, which shares no code with the views of ../core/.  (It has the name that
 * ../engine/instrument.c includes.)
 *
 * A test has up to four threads that run functions of the library as they are.  The compiler calls
 * instrument.c for each access (-fsanitize=thread), so no memory order is repeated here.
 *
 *   1. record.c runs each thread alone.  A load of shared memory may return any value that some
 *      other thread stores there in any of its runs, or what the thread itself knows.  Each choice
 *      is another run: a list of events.  This is repeated until no run stores a new value.
 *   2. executions.c takes one run of each thread, and all ways in which each load can read from a
 *      store, and the stores to each location can be ordered.  Those that the axioms of RC11
 *      allow (axioms.c) are executions.
 *   3. Each execution has an outcome, what its threads have said, and perhaps a data race.  A test
 *      lists all outcomes, so one too few is found like one too many.
 *
 * RC11: Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing sequential consistency in C/C++11", 2017,
 * with the release sequences of C++20, which order less than those of C11.  Each test runs twice,
 * the second time without the axiom against load buffering ("no thin air"): then a load may return
 * what is stored later.  That allows more than any machine and compiler does.
 *
 * Not here: a compare-and-swap that fails for no reason; it does no more than the loop before it.
 * Plain memory of the library is not guessed: each thread finds it as the test says (`finds`),
 * which is right for what only one of them changes.  But its accesses are events, and races are
 * found.
 */
#ifndef LITMUS_EXPLORER_H
#define LITMUS_EXPLORER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { THREADS = 4, EVENTS = 128, EVENTS_OF_ONE = 72, LOCATIONS = 40, SHARED = 2048, SAID = 12,
       VALUES_MAX = 512 };

/* ---- instrument.c: each access of an instrumented function ---- */

#define CALLER __builtin_return_address(0)

enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_CHANGE, ACCESS_SWAP };

void access_plain(const void *at, size_t size, bool write, const void *pc);
void access_begins(const void *at, size_t size, enum access_kind kind, const void *pc);
int64_t access_load(const void *at, size_t size, int64_t newest, int order, const void *pc);
bool access_stores(const void *at, size_t size, int64_t value, enum access_kind kind, int order,
                   const void *pc);
void access_stored(const void *at, size_t size, int64_t before, int64_t now);
bool access_swap_fails(const void *at, size_t size, int64_t newest, int64_t *expected, int order,
                       const void *pc);
void access_fence(int order);

/* ---- Events and runs ---- */

enum event_kind { READ, WRITE, CHANGE, FENCE, BLOCK };

/* The plain accesses of the library between two other events: which bytes. */
struct block {
    uint8_t reads[SHARED / 8], writes[SHARED / 8];
};

struct event {
    enum event_kind kind;
    int             order;
    bool            plain;      /* neither atomic nor of a mutex */
    int             location;   /* READ, WRITE, CHANGE (a read-modify-write); otherwise -1 */
    int             first, size;    /* bytes of `shared` */
    int64_t         saw, wrote;
    struct block   *block;
    const void     *pc;
};

struct numbers {
    uint64_t bits[VALUES_MAX / 64];
};

struct run {
    int          length;
    struct event event[EVENTS_OF_ONE];
    char         said[SAID];
    struct numbers stores, needs;   /* of values: axioms.c */
};

/* ---- A test ---- */

struct test {
    const char *name;
    const char *outcomes;       /* all of them, in alphabetical order; "race": there must be one */
    const char *more;           /* NULL, or all of them where loads may be buffered */
    bool        last_values;    /* of x and y are a part of the outcomes: classics.c */
    void      (*begins)(void);  /* prepares `shared` */
    void      (*finds)(int thread);     /* NULL; prepares what is plain for one thread's runs */
    int         threads;
    void      (*thread[THREADS])(int thread);
};

/* All memory that the threads share. */
extern _Alignas(64) unsigned char shared[SHARED];

/* In a thread of a test. */
void    say(char c);
int64_t read_plain(const void *at);             /* 8 bytes, whose value is guessed as for atomics */
void    write_plain(void *at, int64_t value);
void    overwrite(void *at, size_t size);       /* as its user may after a destroy */
void    lock(const void *mutex);
void    unlock(const void *mutex);
void    sleep_for_a_while(void);
_Noreturn void stop_here(char why);             /* the run ends; its events stay */

/* values.c: ends the program. */
_Noreturn void give_up(const char *what);

/* record.c: all runs of each thread. */
void record_all(const struct test *test);
extern struct run *runs[THREADS];
extern int runs_count[THREADS], locations;
extern int64_t location_begins[LOCATIONS];
int location_of(const void *at, size_t size);

/* executions.c: all of them.  Calls found() for each; race: NULL, or what it is. */
void executions(const struct test *test, bool thin_air,
                void (*found)(const char *outcome, const char *race));
extern long executions_count;

/* classics.c */
int classics_count(void);
void classic(int which, struct test *test);

/* The library's tests, each in the file of its name. */
extern const struct test fast[], hand_off[], inspection[], tickets[];
extern const int fast_count, hand_off_count, inspection_count, tickets_count;

#endif
