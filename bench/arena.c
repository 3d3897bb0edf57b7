/* SPDX-License-Identifier: MIT */
/*
 * arena.c - threads that always want a unit: they hold it, release it and ask again.
 *
 * OVERTAKEN WAITS are measured from outside, in the same way for every kind of semaphore.  Each
 * thread that gets the unit adds one to a common count of grants.  A thread reads the count before
 * it asks, and again when it has the unit.  In between, each other thread can be ahead of it in the
 * queue at most once, because a thread that asks again is behind it.  So if there are more grants
 * than other threads, a thread that came later was granted first, and the wait counts as passed.  A
 * semaphore that grants in order has no passed waits, unless the system stops a thread just between
 * its first reading and its place in the queue.
 *
 * With several units the count proves nothing: while a thread that was granted a unit does not run
 * yet, the other units may be granted many times.
 */
#define _POSIX_C_SOURCE 200809L

#include "arena.h"

#include "clock.h"
#include "die.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum phase { WARM_UP, COUNTING, OVER };

struct arena;

struct member {
    _Alignas(128) struct arena *arena;
    pthread_t thread;
    /* Written by the thread, read by main after the join. */
    long served, passed;
    int64_t longest_ns;
};

struct arena {
    const struct arena_plan *plan;
    void *sem;
    pthread_mutex_t gate; /* locked until all threads have started */
    atomic_int phase;
    _Alignas(128) atomic_long services;
    struct member members[ARENA_MAX_THREADS];
};

static void note(struct member *m, int phase, int64_t waited, long services)
{
    const struct arena_plan *plan = m->arena->plan;

    /* A wait that is interrupted by the end counts with its length so far. */
    if (phase == WARM_UP)
        return;
    if (waited > m->longest_ns)
        m->longest_ns = waited;
    if (phase == OVER)
        return;
    m->served++;
    m->passed += services > plan->threads - 1;
}

/* Compute until `ns` after `since`, or sleep for `ns`.  Returns the time at the end. */
static int64_t spend(int64_t since, int64_t ns, bool asleep)
{
    if (ns == 0)
        return since;
    if (!asleep)
        return busy_until(since, ns);
    sleep_ns(ns);
    return now_ns();
}

/* The calls are indirect; an indirect call costs little compared with the two readings of the clock. */
static void *member(void *arg)
{
    struct member *m = arg;
    struct arena *a = m->arena;
    const struct sem_ops *ops = a->plan->ops;
    int64_t left, got, waited;
    int phase;

    pthread_mutex_lock(&a->gate);
    pthread_mutex_unlock(&a->gate);
    left = now_ns();
    do {
        long before = atomic_load_explicit(&a->services, memory_order_relaxed), after;

        ops->acquire(a->sem);
        got = now_ns();
        after = atomic_fetch_add_explicit(&a->services, 1, memory_order_relaxed);
        phase = atomic_load_explicit(&a->phase, memory_order_relaxed);
        waited = got - left;
        left = spend(got, a->plan->hold_ns, false);
        ops->release(a->sem);
        note(m, phase, waited, after - before);
        if (a->plan->between_ns != 0)
            left = spend(now_ns(), a->plan->between_ns, a->plan->between_asleep);
    } while (phase != OVER);
    return NULL;
}

/* Start a process of the same priority that computes until someone kills it or this process ends. */
static pid_t start_process(void)
{
    const pid_t parent = getpid();
    pid_t pid = fork();

    if (pid < 0)
        die("fork", errno);
    while (pid == 0) {
        busy_until(now_ns(), 10 * NS_PER_MS);
        if (getppid() != parent)
            _exit(1);
    }
    return pid;
}

/* Check that no unit was lost or made. */
static void count_units(const struct arena *a)
{
    const struct sem_ops *ops = a->plan->ops;
    int64_t units = 0;

    if (!ops->try_acquire)
        return;
    while (units <= a->plan->units && ops->try_acquire(a->sem) == 0)
        units++;
    if (units != a->plan->units)
        die("the number of units has changed", 0);
}

static void sum_up(struct arena *a, struct arena_result *r, int64_t duration, int64_t cpu)
{
    const struct arena_plan *plan = a->plan;
    long least = -1, served = 0, passed = 0;

    memset(r, 0, sizeof(*r));
    for (int i = 0; i < plan->threads; i++) {
        const struct member *m = &a->members[i];

        served += m->served;
        passed += m->passed;
        if (least < 0 || m->served < least)
            least = m->served;
        r->longest_ns = fmax(r->longest_ns, (double)m->longest_ns);
    }
    r->per_second = (double)served * (double)NS_PER_S / (double)duration;
    r->least_share = served ? (double)least * plan->threads / (double)served : 0;
    r->cpu_ns = !served ? NAN : (double)cpu / (double)served;
    r->passed = plan->units == 1 ? (double)passed : NAN;
}

/* All threads are started before any of them asks for a unit. */
static void run_all(struct arena *a, struct arena_result *result)
{
    const struct arena_plan *plan = a->plan;
    int64_t began, ended, cpu;

    pthread_mutex_lock(&a->gate);
    for (int i = 0; i < plan->threads; i++) {
        memset(&a->members[i], 0, sizeof(a->members[i]));
        a->members[i].arena = a;
        start_thread(&a->members[i].thread, member, &a->members[i]);
    }
    pthread_mutex_unlock(&a->gate);

    sleep_ns(plan->warm_up_ns);
    cpu = cpu_ns();
    began = now_ns();
    atomic_store(&a->phase, COUNTING);
    sleep_ns(plan->duration_ns);
    atomic_store(&a->phase, OVER);
    ended = now_ns();
    cpu = cpu_ns() - cpu;

    for (int i = 0; i < plan->threads; i++)
        pthread_join(a->members[i].thread, NULL);
    sum_up(a, result, ended - began, cpu);
}

bool arena_run(const struct arena_plan *plan, struct arena_result *result)
{
    static struct arena a;
    pid_t processes[ARENA_MAX_BUSY];

    a.plan = plan;
    a.sem = sem_new(plan->ops, plan->units);
    if (!a.sem)
        return false;
    atomic_store(&a.phase, WARM_UP);
    atomic_store(&a.services, 0);
    pthread_mutex_init(&a.gate, NULL);
    for (int i = 0; i < plan->busy_processes; i++)
        processes[i] = start_process();
    run_all(&a, result);
    for (int i = 0; i < plan->busy_processes; i++) {
        kill(processes[i], SIGKILL);
        waitpid(processes[i], NULL, 0);
    }
    pthread_mutex_destroy(&a.gate);
    count_units(&a);
    sem_delete(plan->ops, a.sem);
    return true;
}
