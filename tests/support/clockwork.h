/* SPDX-License-Identifier: MIT */
/*
 * clockwork.h - one thread plays all threads that use a semaphore, with a simulated clock.
 *
 * A waiting thread reads the clock while it stays awake, and parks when it sleeps.  The linker redirects both
 * calls to this file (--wrap).  In these calls, this file does the planned acts of the other threads.  So no
 * real time passes, and nothing happens by chance: a plan has the same result on each machine.
 *
 * Times are in nanoseconds.  They are multiples of 16, because the library measures a wake-up only if the time
 * of the wake is a multiple of 16.  Include this file in one file of a program; local.mk lists the wrapped
 * calls.
 */
#ifndef CLOCKWORK_H
#define CLOCKWORK_H

#include "bare.h"
#include "suite.h"

#include "fairsem.h"
#include "deferred.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#define PLANNED 4       /* limit of acts */

typedef void act_fn(void *arg);

static struct {
    int64_t now;
    int64_t look;       /* the time that a reading of the clock takes */
    int64_t wake_up;    /* the time from a release until the woken thread runs */
    int64_t start;      /* of the plan */
    int     mutexes;    /* number of mutexes that the library holds */
    int     planned, done;
    struct { int64_t after; act_fn *act; void *arg; } plan[PLANNED];
    /* seen[i]: what has happened from the start of the plan until the act i; `is`: until now. */
    struct seen {
        bool    asleep;         /* the waiting thread sleeps */
        int64_t awake;          /* the time that the waiting thread stayed awake */
        int     wakes;          /* number of wakes of any thread */
        int     yields;         /* number of yields of the waiting thread */
    } seen[PLANNED];
    struct seen is;
    bool    woken;      /* the waiting thread has been woken and has not run yet */
    /* The machine: the number of cores, the core of the waiting thread, the core of all other threads. */
    int     cores;
    int     core, core_of_others;
    bool    real_time;  /* the waiting thread has a real-time policy */
    int64_t yield_takes;
    act_fn  *in_yield;  /* called once, in the next yield; may be NULL */
    bool    others_act;
    bool    others_compute; /* other programs use all cores, not this process */
} world;

int64_t __wrap_fs_now_ns(void);
int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
void __wrap_fs_park_on_cond(struct fs_parker *self, const struct fs_deadline *deadline);
bool __wrap_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline);
bool __real_fs_wake_queue_add_parker(struct fs_wake_queue *wakes, struct fs_parker *parker);
bool __wrap_fs_wake_queue_add_parker(struct fs_wake_queue *wakes, struct fs_parker *parker);
void __real_fs_wake_queue_add_word(struct fs_wake_queue *wakes, const _Atomic int *word);
void __wrap_fs_wake_queue_add_word(struct fs_wake_queue *wakes, const _Atomic int *word);
int __wrap_fs_cpu_current(void);
int __wrap_fs_cpu_count(void);
bool __wrap_fs_cpu_is_time_shared(void);
int __wrap_sched_yield(void);
int64_t __wrap_fs_process_ns(void);

/* ---- The waiting thread, and the acts of other threads ---- */

static void act(void)
{
    int i = world.done++;

    world.seen[i] = world.is;
    world.others_act = true;
    world.plan[i].act(world.plan[i].arg);
    world.others_act = false;
}

BARE int64_t __wrap_fs_now_ns(void)
{
    int64_t now = world.now;

    world.now += world.look;
    /* Acts happen only outside critical sections, and while the plan has some left. */
    if (world.mutexes == 0 && world.done < world.planned) {
        world.is.awake += world.look;
        while (world.done < world.planned
               && now - world.start >= world.plan[world.done].after)
            act();
    }
    return now;
}

static void sleep_until_woken(void)
{
    world.is.asleep = true;
    while (!world.woken) {
        if (world.done == world.planned)
            ck_abort_msg("sleeps for ever");
        if (world.now < world.start + world.plan[world.done].after)
            world.now = world.start + world.plan[world.done].after;
        act();
    }
    world.is.asleep = world.woken = false;
    /* The granter read the clock, so world.look of the wake-up time has passed already. */
    world.now += world.wake_up - world.look;
}

void __wrap_fs_park_on_cond(struct fs_parker *self, const struct fs_deadline *deadline)
{
    (void)self;
    (void)deadline;
    sleep_until_woken();
}

bool __wrap_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline)
{
    (void)word;
    (void)value;
    (void)deadline;
    sleep_until_woken();
    return false;
}

static void note_wake(void)
{
    world.is.wakes++;
    world.woken = true;
}

bool __wrap_fs_wake_queue_add_parker(struct fs_wake_queue *wakes, struct fs_parker *parker)
{
    note_wake();
    return __real_fs_wake_queue_add_parker(wakes, parker);
}

void __wrap_fs_wake_queue_add_word(struct fs_wake_queue *wakes, const _Atomic int *word)
{
    note_wake();
    __real_fs_wake_queue_add_word(wakes, word);
}

BARE int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    world.mutexes++;
    return __real_pthread_mutex_lock(m);
}

/* The library tries to lock for a moment before it blocks.  In this world each try succeeds. */
BARE int __wrap_pthread_mutex_trylock(pthread_mutex_t *m)
{
    return __wrap_pthread_mutex_lock(m);
}

BARE int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    world.mutexes--;
    return __real_pthread_mutex_unlock(m);
}

/* ---- The machine ---- */

int __wrap_fs_cpu_current(void)
{
    return world.others_act ? world.core_of_others : world.core;
}

int __wrap_fs_cpu_count(void)
{
    return world.cores;
}

bool __wrap_fs_cpu_is_time_shared(void)
{
    return !world.real_time;
}

int64_t __wrap_fs_process_ns(void)
{
    return world.others_compute ? 0 : world.now * 64;
}

int __wrap_sched_yield(void)
{
    act_fn *meanwhile = world.in_yield;

    world.is.yields++;
    world.in_yield = NULL;
    if (meanwhile != NULL)
        meanwhile(NULL);
    world.now += world.yield_takes;
    if (world.mutexes == 0)
        world.is.awake += world.yield_takes;
    return 0;
}

/* ---- For tests ---- */

/* Plan an act `after` nanoseconds after the start of the plan. */
static inline void plan(int64_t after, act_fn *what, void *arg)
{
    world.plan[world.planned].after = after;
    world.plan[world.planned].act = what;
    world.plan[world.planned++].arg = arg;
}

static inline void begin_plan(void)
{
    world.start = world.now;
    world.planned = world.done = 0;
    world.is = (struct seen){ .asleep = false };
}

static inline void release_one(void *sem)
{
    fairsem_release(sem, 1);
}

struct units { fairsem_t *sem; int64_t n; };

static inline void release_units(void *arg)
{
    const struct units *units = arg;

    fairsem_release(units->sem, units->n);
}

/* Returns how long the waiting thread had spun before the nth act, or 0 if it had yielded. */
static inline int64_t spun(int nth)
{
    return world.seen[nth].yields == 0 ? world.seen[nth].awake : 0;
}

/* Wait for a unit that is released `after` nanoseconds later. */
static inline void wait_for(fairsem_t *sem, int64_t after)
{
    begin_plan();
    plan(after, release_one, sem);
    ck_assert_int_eq(fairsem_acquire(sem, 1), 0);
    ck_assert_int_eq(world.done, 1);
}

/* Wait behind a ticket: one unit is released after `first` ns, and another one `second` ns later. */
static inline void wait_as_second(fairsem_t *sem, int64_t first, int64_t second)
{
    fairsem_ticket_t ticket = { 0 };
    fairsem_units_t units = { 0 };

    ck_assert_int_eq(fairsem_ticket_take(&ticket, sem, 1, 0, NULL, NULL), EINPROGRESS);
    begin_plan();
    plan(first, release_one, sem);
    plan(first + second, release_one, sem);
    ck_assert_int_eq(fairsem_acquire(sem, 1), 0);
    ck_assert_int_eq(fairsem_ticket_claim(&ticket, &units), 0);
    ck_assert_int_eq(fairsem_units_forget(&units), 1);
}

/* Make wake-ups take `ns` from now on, and wait until the library has measured one. */
static inline void let_wake_ups_take(int64_t ns)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_NO_SPIN };
    fairsem_t sem;

    world.wake_up = ns;
    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    for (int i = 0; i < 300; i++)
        wait_for(&sem, ns);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}

/* Begin with two cores, and a clock that takes `look` ns to read. */
static inline void begin_world(int64_t look)
{
    world.now = INT64_C(1) << 40;
    world.look = look;
    world.wake_up = look;
    world.cores = 2;
    world.core = 0;
    world.core_of_others = 1;
    world.real_time = false;
    world.yield_takes = look;
    world.others_compute = false;
    world.planned = world.done = 0;
}

#endif
