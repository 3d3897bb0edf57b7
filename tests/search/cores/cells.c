/* SPDX-License-Identifier: MIT */
/* cells.c - see cells.h.  Limits are goals: a change that makes a marked cell keep its limit unmarks it. */
#include "cells.h"

#include "machine.h"
#include "workload.h"

#include <stdio.h>

#define US 1000
#define MS 1000000

/* The ratio of which .least is the minimum. */
enum rule {
    TO_POSIX,       /* fairsem's holds a second / those of sem_t */
    TO_BETTER,      /* fairsem's holds a second / the larger of those with FAIRSEM_NO_SPIN and 0.8 of sem_t's */
    ONE_MORE,       /* holds a second with one more thread / without this thread */
    INHERITING,     /* holds a second in a process that may have real-time threads / in another process */
    FRUGAL,         /* processor time of a hold with FAIRSEM_NO_SPIN / without it; 1 if spinning gains 10 % */
    PROMPT,         /* 99th percentile of a request with sem_t / with fairsem */
    RULES
};

static const char *const rule_text[RULES] = {
    "of sem_t's holds", "of the better holds", "of one thread less", "of an ordinary mutex",
    "of the processor time", "of the 99th percentile",
};

static const struct cell {
    const char *machine;
    int         cores;
    struct load load;
    enum rule   rule;
    double      least;
    bool        misses;     /* the mark: the cell misses its limit today */
} table[] = {
    /* With two waiters, the second waiter sleeps, and no waiter is pre-woken. */
    { "vm", 4, { .threads = 3, .units = 1, .hold = 1 * US }, TO_POSIX, 0.5, false },
    { "vm", 16, { .threads = 3, .units = 1, .hold = 1 * US }, TO_POSIX, 0.5, false },
    /* More waiters than may be near the front: each waiter sleeps before its grant. */
    { "vm", 4, { .threads = 16, .units = 1, .hold = 1 * US }, TO_POSIX, 0.4, false },
    /* The holders have all the cores. */
    { "vm", 4, { .threads = 16, .units = 4, .hold = 5 * US }, TO_POSIX, 0.4, false },
    { "vm", 16, { .threads = 12, .units = 1, .hold = 1 * US }, ONE_MORE, 0.8, false },
    { "vm", 16, { .threads = 13, .units = 1, .hold = 1 * US }, TO_POSIX, 0.5, false },
    { "bare", 16, { .threads = 16, .units = 1, .hold = 1 * US }, TO_POSIX, 0.5, false },
    { "deep", 16, { .threads = 64, .units = 1, .hold = 2 * US }, TO_POSIX, 0.5, false },
    /* A few waiters. */
    { "vm", 16, { .threads = 8, .units = 1, .hold = 5 * US }, TO_POSIX, 0.6, false },
    { "vm", 2, { .threads = 16, .units = 1, .hold = 5 * US }, TO_POSIX, 0.6, false },
    /* With priority inheritance, the kernel hands a mutex to a sleeping thread. */
    { "vm", 16, { .threads = 16, .units = 4, .hold = 20 * US }, INHERITING, 0.8, false },
    /* Each contended acquire and release waits for the section. */
    { "bare", 64, { .threads = 64, .units = 32, .hold = 20 * US }, TO_POSIX, 0.6, true },
    { "vm", 16, { .threads = 16, .units = 4, .hold = 5 * US }, TO_POSIX, 0.5, false },
    /* Waiters that stay awake take cores from threads that think. */
    { "bare", 4, { .threads = 8, .units = 1, .hold = 5 * US, .think = 50 * US }, TO_BETTER, 1.0, true },
    /* Staying awake gains little. */
    { "bare", 16, { .threads = 16, .units = 4, .hold = 80 * US }, FRUGAL, 1.0 / 3, false },
    /* One hold in a thousand is long. */
    { "vm", 16, { .threads = 4, .units = 1, .hold = 5 * US, .long_hold = 2 * MS }, TO_POSIX, 0.9, true },
    /* Half of the units are enough, but once there is a queue, each request waits in it. */
    { "vm", 32, { .threads = 64, .units = 16, .hold = 10 * US, .percent = 50 }, PROMPT, 1.0 / 3, true },
};
enum { CELLS = sizeof table / sizeof *table };

static double holds(struct load load, enum peer peer)
{
    return measure(&load, peer).per_second;
}

static double to_better(const struct load *load)
{
    double posix = 0.8 * holds(*load, POSIX), no_spin = holds(*load, NO_SPIN);

    return holds(*load, FAIRSEM) / (posix > no_spin ? posix : no_spin);
}

static double one_more(const struct load *load)
{
    struct load more = *load;

    more.threads++;
    return holds(more, FAIRSEM) / holds(*load, FAIRSEM);
}

static double inheriting(const struct load *load)
{
    struct load root = *load;

    root.real_time = true;
    return holds(root, FAIRSEM) / holds(*load, FAIRSEM);
}

static double frugal(const struct load *load)
{
    struct pace fair = measure(load, FAIRSEM), no_spin = measure(load, NO_SPIN);

    return fair.per_second >= 1.1 * no_spin.per_second ? 1 : no_spin.cpu_us / fair.cpu_us;
}

static double prompt(const struct load *load)
{
    return measure(load, POSIX).p99_us / measure(load, FAIRSEM).p99_us;
}

static double ratio(const struct cell *cell)
{
    struct load load = cell->load;

    machine_preset(cell->machine);
    machine.cores = cell->cores;
    load.length = load.long_hold != 0 ? 500 * MS : 30 * MS;
    load.seed = 1;
    switch (cell->rule) {
    case TO_BETTER:
        return to_better(&load);
    case ONE_MORE:
        return one_more(&load);
    case INHERITING:
        return inheriting(&load);
    case FRUGAL:
        return frugal(&load);
    case PROMPT:
        return prompt(&load);
    default:
        return holds(load, FAIRSEM) / holds(load, POSIX);
    }
}

static bool run_cell(const struct cell *cell)
{
    double value = ratio(cell);
    bool misses = value < cell->least;
    const char *text = misses ? "FAILED" : "ok";

    if (cell->misses)
        text = misses ? "still missed" : "FAILED: kept now, so unmark it";
    printf("%-4s %2d cores, %2d threads, %2d units, %2d us, %2d us between, %2d %% load: %.2f %s, at least %.2f: %s\n",
           cell->machine, cell->cores, cell->load.threads, cell->load.units, (int)(cell->load.hold / US),
           (int)(cell->load.think / US), cell->load.percent, value, rule_text[cell->rule], cell->least, text);
    return misses == cell->misses;
}

bool cells(void)
{
    bool as_marked = true;

    for (int i = 0; i < CELLS; i++)
        as_marked &= run_cell(&table[i]);
    return as_marked;
}
