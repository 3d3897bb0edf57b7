/* SPDX-License-Identifier: MIT */
/*
 * scheduler.c - cores with a run queue each, and the loop.
 *
 * Each core has a time of its own.  The loop continues the thread of the core whose time is earliest, until
 * this time has passed the time of another core or of the next event.  So all effects are in the order of their
 * times.
 */
#include "simulator.h"

#include <stdio.h>
#include <stdlib.h>

enum { STACK_SIZE = 32768 };

struct thread *self;
struct thread threads[MOST_THREADS];
struct core cores[MOST_CORES];

static _Alignas(64) char stacks[MOST_THREADS][STACK_SIZE];
static struct fibre loop;
static int threads_count, alive;
static int64_t next_core;       /* the second earliest time of a core that runs a thread */
static int64_t slice;
static uint64_t random_state;

/* xorshift (Marsaglia, 2003). */
uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

int64_t now(void)
{
    return self != NULL ? cores[self->core].now : 0;
}

int64_t used_by_all(void)
{
    int64_t used = 0;

    for (int i = 0; i < threads_count; i++)
        used += threads[i].used;
    return used;
}

void leave(void)
{
    struct thread *me = self;

    fibre_switch(&me->fibre, &loop);
}

/* ---- Run queues ---- */

bool is_idle(const struct core *core)
{
    return core->runs == NULL && core->first == NULL && !core->expects;
}

void enqueue(struct core *core, struct thread *thread)
{
    thread->at = READY;
    thread->core = (int)(core - cores);
    thread->next = NULL;
    *core->end = thread;
    core->end = &thread->next;
    core->queued++;
}

static void enqueue_first(struct core *core, struct thread *thread)
{
    enqueue(core, thread);
    while (core->first != thread) {
        struct thread *other = core->first;

        core->first = other->next;
        core->queued--;
        enqueue(core, other);
    }
}

static struct thread *dequeue(struct core *core)
{
    struct thread *thread = core->first;

    if (thread != NULL) {
        core->first = thread->next;
        if (core->first == NULL)
            core->end = &core->first;
        core->queued--;
    }
    return thread;
}

void dispatch(struct core *core, int64_t at)
{
    struct thread *thread = dequeue(core);

    if (core->now < at)
        core->now = at;
    core->runs = thread;
    if (thread == NULL) {
        core->idle_since = core->now;
        event_add(CORE_PULLS, NULL, core, core->now + machine.pull);
        return;
    }
    if (thread != core->last)
        core->now += machine.context_switch;
    core->last = thread;
    core->slice_end = core->now + slice;
    thread->at = RUNS;
    thread->yielded = false;
}

void pull(struct core *core, int64_t at)
{
    struct core *busiest = core;

    if (!is_idle(core))
        return;
    for (int i = 0; i < machine.cores; i++) {
        if (cores[i].queued > busiest->queued)
            busiest = &cores[i];
    }
    if (busiest != core) {
        enqueue(core, dequeue(busiest));
        dispatch(core, at);
    }
}

/* ---- Preemption ---- */

/* Move the running thread to the end of its core's run queue. */
static void give_way(struct core *core)
{
    struct thread *thread = core->runs;

    core->runs = NULL;
    enqueue(core, thread);
}

/*
 * A thread spends its time in advance.  If it is preempted at time `at`, it must spend the time beyond `at`
 * again.
 */
static void take_back(struct core *core, int64_t at)
{
    int64_t rest = core->now - at;

    if (rest > 0) {
        core->runs->owed += rest;
        core->runs->used -= rest;
        core->now = at;
    }
}

void thread_arrives(struct thread *thread, int64_t at)
{
    struct core *core = &cores[thread->core];

    if (core->runs == NULL) {
        core->expects = false;
        core->last = NULL;              /* the core was idle: a context switch, even to its last thread */
        enqueue(core, thread);
        dispatch(core, at);
    } else if (core->runs->yielded || core->runs->used > thread->used + machine.ahead) {
        take_back(core, at);
        give_way(core);
        enqueue_first(core, thread);
        dispatch(core, at);
    } else {
        enqueue(core, thread);
    }
}

static void go_away(struct core *core)
{
    core->now += machine.away;
    while (core->away_at <= core->now)
        core->away_at += machine.away_every;
}

static void end_of_slice(struct core *core)
{
    core->slice_end = core->now + slice;
    if (core->first != NULL) {
        give_way(core);
        dispatch(core, core->now);
        leave();
    }
}

void spend(int64_t ns)
{
    if (self == NULL)
        return;
    for (ns += self->owed, self->owed = 0; ns > 0; ns += self->owed, self->owed = 0) {
        struct core *core = &cores[self->core];
        int64_t part = core->slice_end - core->now;

        if (part <= 0 || part > ns)
            part = ns;
        core->now += part;
        self->used += part;
        ns -= part;
        if (machine.away != 0 && core->now >= core->away_at)
            go_away(core);
        if (core->now >= core->slice_end)
            end_of_slice(core);
        else if (core->now > next_core || core->now >= event_next())
            leave();
    }
}

void yield_core(void)
{
    struct core *core = &cores[self->core];

    self->yielded = true;
    if (core->first == NULL) {
        spend(machine.yield + (int64_t)(random_number() % (uint64_t)(machine.yield_more + 1)));
        return;
    }
    core->now += machine.yield / 2;
    self->used += machine.yield / 2;
    give_way(core);
    dispatch(core, core->now);
    leave();
}

/* ---- The loop ---- */

void thread_ends(void)
{
    struct core *core = &cores[self->core];

    self->at = ENDED;
    alive--;
    dispatch(core, core->now);
    leave();
    abort();
}

/* Returns the core with the earliest time, or NULL if no core runs a thread. */
static struct core *choose_core(void)
{
    struct core *first = NULL;

    next_core = NEVER;
    for (int i = 0; i < machine.cores; i++) {
        struct core *core = &cores[i];

        if (core->runs == NULL)
            continue;
        if (first == NULL) {
            first = core;
        } else if (core->now < first->now) {
            next_core = first->now;
            first = core;
        } else if (core->now < next_core) {
            next_core = core->now;
        }
    }
    return first;
}

static void cores_begin(void)
{
    slice = machine_slice();
    for (int i = 0; i < machine.cores; i++) {
        cores[i].end = &cores[i].first;
        /* The hypervisor takes each core away at a different time. */
        cores[i].away_at = machine.away_every * (i + 1) / machine.cores;
    }
}

bool simulate(int count, void (*fn)(void), uint64_t seed)
{
    random_state = seed * 2654435761u + 88172645463325252u;
    cores_begin();
    threads_count = alive = count;
    for (int i = 0; i < count; i++) {
        threads[i].number = i;
        fibre_prepare(&threads[i].fibre, stacks[i] + STACK_SIZE, fn);
        enqueue(&cores[i % machine.cores], &threads[i]);
    }
    for (int i = 0; i < machine.cores; i++)
        dispatch(&cores[i], 0);
    while (alive > 0) {
        struct core *core = choose_core();

        if (core == NULL ? event_next() != NEVER : event_next() <= core->now) {
            event_handle();
            continue;
        }
        if (core == NULL)
            return false;
        self = core->runs;
        fibre_switch(&loop, &self->fibre);
        self = NULL;
    }
    return true;
}
