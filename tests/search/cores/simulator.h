/* SPDX-License-Identifier: MIT */
/*
 * simulator.h - threads on simulated cores, as discrete events in simulated time.
 *
 * The sources of src/core/ and the peers (other semaphores) run unchanged.  Each thread is a fibre
 * (../engine/fibre.c).  Each atomic or plain access (../engine/instrument.c) and each call that blocks, wakes,
 * yields or reads a clock (layer.h) spends simulated time on the core of its thread.
 *
 *   machine.c    the cost of each event
 *   events.c     future events: time-outs, woken threads that arrive on a core, idle cores that pull threads
 *   scheduler.c  cores with a run queue each, time slices, preemption; the loop that runs the threads
 *   sleep.c      sleep and wake, and the core of a woken thread
 *   lines.c      cache lines and their owners
 *   calls.c      the calls of layer.h
 *   peers.c      other semaphores on the same primitives
 *   workload.c   threads that acquire, hold, release and think, or serve requests
 *   cells.c      the cells of the test
 *   main.c       the command line
 *
 * A run is deterministic: random numbers have a seed.  But another compiler places variables on other cache
 * lines, so figures differ by a few per cent between compilers.
 */
#ifndef CORES_SIMULATOR_H
#define CORES_SIMULATOR_H

#include "../engine/fibre.h"
#include "machine.h"

#include <stdbool.h>
#include <stdint.h>

enum { MOST_THREADS = 1024, SPECIFICS = 32 };

#define NEVER INT64_MAX

enum at { READY, RUNS, SLEEPS, ARRIVES, ENDED };

struct thread {
    struct fibre   fibre;
    enum at        at;
    int            number, core;        /* the core that it runs on, or last ran on */
    bool           yielded;             /* it has yielded since it got its core */
    bool           timed_out;           /* its last sleep has timed out */
    const void    *asleep_on;
    uint64_t       moves;               /* number of sleeps and wake-ups: each makes earlier events void */
    int64_t        used;                /* processor time */
    int64_t        owed;                /* time that it must spend again: see take_back() */
    const void    *specific[SPECIFICS];
    struct thread *next;                /* in the run queue, or among the sleepers */
};

struct core {
    int64_t        now, slice_end, idle_since, away_at;
    struct thread *runs;                /* NULL if idle */
    struct thread *last;                /* the last thread that ran */
    struct thread *first, **end;        /* the run queue */
    int            queued;
    uintptr_t      kept;                /* the cache line that it keeps until kept_until */
    int64_t        kept_until;
    bool           expects;             /* it runs no thread, but a woken thread is on its way to it */
};

extern struct thread *self;             /* NULL in the loop, or outside of a run */
extern struct thread threads[MOST_THREADS];
extern struct core cores[MOST_CORES];

/* ---- scheduler.c ---- */

/* Run fn in `count` threads until all have ended.  Returns false if some threads sleep for ever. */
bool simulate(int count, void (*fn)(void), uint64_t seed);
_Noreturn void thread_ends(void);
int64_t now(void);                      /* the time of the running thread's core */
int64_t used_by_all(void);              /* the processor time of all threads */
uint64_t random_number(void);

/* The running thread computes for `ns`.  No effect outside of a run. */
void spend(int64_t ns);
void yield_core(void);

/* Stop the running thread, and return to the loop. */
void leave(void);
void enqueue(struct core *core, struct thread *thread);
/* Let the core run the first thread of its queue from time `at` on, or be idle. */
void dispatch(struct core *core, int64_t at);
/* A woken thread arrives at its core. */
void thread_arrives(struct thread *thread, int64_t at);
void pull(struct core *core, int64_t at);
bool is_idle(const struct core *core);

/* ---- events.c ---- */

enum event_kind { TIME_IS_OUT, THREAD_ARRIVES, CORE_PULLS };

/* Add an event of a thread, which is void after the thread's next sleep or wake-up, or an event of a core. */
void event_add(enum event_kind kind, struct thread *thread, struct core *core, int64_t at);
int64_t event_next(void);               /* the time of the next event, or NEVER */
void event_handle(void);

/* ---- sleep.c ---- */

/* The running thread sleeps until it is woken, or until the time `until`.  Returns false after a time-out. */
bool sleep_on(const void *object, int64_t until);
/* Wake up to `count` threads that sleep on the object, in order of arrival.  Returns their number. */
int wake(const void *object, int count);
bool any_sleeps_on(const void *object);
void time_is_out(struct thread *thread, int64_t at);

/* ---- lines.c ---- */

enum touch { LOAD, STORE, LOCKED };     /* LOCKED: load and store in one instruction */

/* The core of the running thread fetches the line.  No effect outside of a run. */
void touch(const void *at, enum touch how);

/* ---- calls.c ---- */

extern bool real_time;                  /* the process may have real-time threads: mutexes inherit priorities */

#endif
