/* SPDX-License-Identifier: MIT */
/* workload.c - see workload.h. */
#define _GNU_SOURCE
#include "workload.h"

#include "peers.h"
#include "simulator.h"

#include <fairsem.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const peer_names[PEERS] = { "fairsem", "no spin", "sem_t", "array", "bypass" };

static struct load load;
static enum peer peer;
static _Alignas(64) fairsem_t fair;
static int inside;              /* number of threads that hold a unit */
static double next_arrival;
static int64_t *took;           /* for each request, the time from its arrival to its release */
static size_t holds, most_holds;

_Noreturn static void stop(const char *why)
{
    fprintf(stderr, "cores: %s: %d threads, %d units: %s\n", peer_names[peer], load.threads, load.units, why);
    _exit(2);
}

static void init(int64_t patience)
{
    fairsem_attr_t attr = { .flags = peer == NO_SPIN ? FAIRSEM_NO_SPIN : 0 };

    if (peer == BYPASS)         /* the same bypass_ns as in bench/ */
        attr = (fairsem_attr_t){ .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = 10000000 };

    if (peer == POSIX)
        posix_init(load.units);
    else if (peer == ARRAY)
        array_init(load.units, patience);
    else if (fairsem_init(&fair, load.units, &attr) != 0)
        stop("fairsem_init failed");
}

static void acquire(void)
{
    if (peer == POSIX)
        posix_wait();
    else if (peer == ARRAY)
        array_wait();
    else if (fairsem_acquire(&fair, 1) != 0)
        stop("fairsem_acquire failed");
}

static void release(void)
{
    if (peer == POSIX)
        posix_post();
    else if (peer == ARRAY)
        array_post();
    else
        fairsem_release(&fair, 1);
}

static int64_t think_time(void)
{
    return load.think / 2 + (int64_t)(random_number() % (uint64_t)(load.think + 1));
}

/* The time of the next arrival; the times between arrivals have an exponential distribution. */
static int64_t arrival(void)
{
    double mean = (double)load.hold * 100 / load.units / load.percent;

    next_arrival -= mean * log((double)(random_number() % 1000000 + 1) / 1000000);
    return (int64_t)next_arrival;
}

/* Take the next request, and return the time of its arrival.  Sleep until it arrives. */
static int64_t next_request(void)
{
    int64_t at;

    if (load.percent == 0)
        return now();
    at = arrival();
    if (at > now() && at < load.length) {
        spend(machine.sleep);
        sleep_on(&next_arrival, at);
    }
    return at;
}

static void record(int64_t ns)
{
    if (holds == most_holds) {
        most_holds = 2 * most_holds + 1000;
        took = realloc(took, most_holds * sizeof *took);
        if (took == NULL)
            stop("no memory");
    }
    took[holds++] = ns;
}

static int compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double p99(void)
{
    if (holds == 0)
        return 0;
    qsort(took, holds, sizeof *took, compare);
    return (double)took[holds * 99 / 100];
}

static void work(void)
{
    int64_t at;

    spend((int64_t)(random_number() % 2000));
    while ((at = next_request()) < load.length && now() < load.length) {
        acquire();
        if (++inside > load.units)
            stop("more holders than units");
        spend(load.long_hold != 0 && random_number() % 1000 == 0 ? load.long_hold : load.hold);
        inside--;
        release();
        if (now() < load.length)
            record(now() - at);
        if (load.think != 0)
            spend(think_time());
    }
    thread_ends();
}

static struct pace run(int64_t patience)
{
    const double us = 1e3, ms = 1e6;

    real_time = load.real_time;
    init(patience);
    if (!simulate(load.threads, work, load.seed))
        stop("all that are left sleep for ever");
    return (struct pace){
        .per_second = (double)holds / ((double)load.length / ms),
        .cpu_us = (double)used_by_all() / (double)holds / us,
        .p99_us = p99() / us,
    };
}

static struct pace run_apart(int64_t patience)
{
    struct pace pace;
    int channel[2], status;
    pid_t child;

    fflush(stdout);
    if (pipe(channel) != 0 || (child = fork()) < 0)
        stop("no process for it");
    if (child == 0) {
        pace = run(patience);
        _exit(write(channel[1], &pace, sizeof pace) == sizeof pace ? 0 : 2);
    }
    close(channel[1]);
    if (read(channel[0], &pace, sizeof pace) != sizeof pace || waitpid(child, &status, 0) != child
        || status != 0)
        exit(2);
    close(channel[0]);
    return pace;
}

static bool is_better(const struct pace *pace, const struct pace *best)
{
    if (best->per_second < 0)
        return true;
    return load.percent != 0 ? pace->p99_us < best->p99_us : pace->per_second > best->per_second;
}

struct pace measure(const struct load *what, enum peer whose)
{
    static const int64_t patiences[] = { 0, 10000, 50000, 200000, 1000000 };
    struct pace best = { .per_second = -1 };

    load = *what;
    peer = whose;
    if (peer != ARRAY)
        return run_apart(0);
    for (size_t i = 0; i < sizeof patiences / sizeof *patiences; i++) {
        struct pace pace = run_apart(patiences[i]);

        if (is_better(&pace, &best))
            best = pace;
    }
    return best;
}
