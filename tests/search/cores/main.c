/* SPDX-License-Identifier: MIT */
/*
 * main.c - cores [OPTION=VALUE]...
 *          cores --cells
 *
 * Prints a row for each combination of values.  cores, threads, units, hold, think and load may be lists
 * (4,16,64).  A row has three figures for each peer: thousands of holds a second, the processor time of a hold
 * in microseconds, and the 99th percentile of the time from the arrival of a request to its end, in
 * microseconds.  The five peers are fairsem, fairsem with FAIRSEM_NO_SPIN, glibc's sem_t, a ticket semaphore
 * with a waiting array, and fairsem with FAIRSEM_BOUNDED_BYPASS.
 *
 *   machine=vm|bare|deep     the machine model (machine.h); give this option first: it sets all parameters
 *   NAME=NS                  a parameter of the model, such as line=18
 *   cores=16 threads=16 units=1 hold=1000 think=0    times in nanoseconds
 *   load=0                   an open loop: the threads serve requests that arrive at random and keep this
 *                            percentage of the units in use; with 0 each thread asks again at once
 *   long=0                   the time of one hold in a thousand; 0 means no long holds
 *   root=0                   with 1 the process may have real-time threads
 *   ms=50 seed=1             the length of a run, in simulated time; the seed of random numbers
 *   peers=4                  print this number of the five peers
 *
 * --cells runs the cells of cells.c.  Exit status: 0; 1 if a cell does not behave as marked in cells.c; 2 for
 * an error.
 */
#include "cells.h"
#include "machine.h"
#include "workload.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 64, MOST_MACHINE_THREADS = 1024 };

struct list {
    const char *name;
    int64_t     least, most;
    int64_t     values[MOST_VALUES];
    int         count;
};

enum { CORES, THREADS, UNITS, HOLD, THINK, LOAD_PERCENT, LONG, ROOT, MS, SEED, PEERS_SHOWN, LISTS };

static struct list lists[LISTS] = {
    [CORES] = { "cores", 1, MOST_CORES, { 16 }, 1 },
    [THREADS] = { "threads", 1, MOST_MACHINE_THREADS, { 16 }, 1 },
    [UNITS] = { "units", 1, 1000000, { 1 }, 1 },
    [HOLD] = { "hold", 0, INT64_C(1000000000), { 1000 }, 1 },
    [THINK] = { "think", 0, INT64_C(1000000000), { 0 }, 1 },
    [LOAD_PERCENT] = { "load", 0, 1000, { 0 }, 1 },
    [LONG] = { "long", 0, INT64_C(1000000000), { 0 }, 1 },
    [ROOT] = { "root", 0, 1, { 0 }, 1 },
    [MS] = { "ms", 1, 100000, { 50 }, 1 },
    [SEED] = { "seed", 0, INT64_MAX, { 1 }, 1 },
    [PEERS_SHOWN] = { "peers", 1, PEERS, { BYPASS }, 1 },
};

_Noreturn static void refuse(const char *option)
{
    fprintf(stderr, "cores: not an option, or not a value of it: %s\n", option);
    exit(2);
}

static bool read_number(const char **at, int64_t *value)
{
    char *end;

    *value = strtoll(*at, &end, 10);
    if (end == *at || *value < 0)
        return false;
    *at = end;
    return true;
}

static bool read_list(struct list *list, const char *text)
{
    for (list->count = 0; list->count < MOST_VALUES;) {
        int64_t value;

        if (!read_number(&text, &value) || value < list->least || value > list->most)
            return false;
        list->values[list->count++] = value;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

static void read_option(const char *option)
{
    const char *value = strchr(option, '=');
    char name[32];
    int64_t number;

    if (value == NULL || value - option >= (ptrdiff_t)sizeof name)
        refuse(option);
    snprintf(name, sizeof name, "%.*s", (int)(value - option), option);
    value++;
    if (strcmp(name, "machine") == 0) {
        if (!machine_preset(value))
            refuse(option);
        return;
    }
    for (int i = 0; i < LISTS; i++) {
        if (strcmp(lists[i].name, name) == 0) {
            if (!read_list(&lists[i], value))
                refuse(option);
            return;
        }
    }
    if (!read_number(&value, &number) || *value != '\0' || !machine_set(name, number))
        refuse(option);
}

static void heading(void)
{
    printf("cores threads units    hold   think  load");
    for (int i = 0; i < lists[PEERS_SHOWN].values[0]; i++)
        printf("  %9s  us/hold   p99 us", peer_names[i]);
    printf("\n");
}

static void row(const int64_t value[LISTS])
{
    struct load load = {
        .threads = (int)value[THREADS], .units = (int)value[UNITS],
        .hold = value[HOLD], .think = value[THINK], .long_hold = value[LONG],
        .percent = (int)value[LOAD_PERCENT],
        .length = value[MS] * 1000000, .real_time = value[ROOT] != 0, .seed = (uint64_t)value[SEED],
    };

    machine.cores = value[CORES];
    printf("%5" PRId64 " %7" PRId64 " %5" PRId64 " %7" PRId64 " %7" PRId64 " %5" PRId64,
           value[CORES], value[THREADS], value[UNITS], value[HOLD], value[THINK], value[LOAD_PERCENT]);
    for (int i = 0; i < value[PEERS_SHOWN]; i++) {
        struct pace pace = measure(&load, (enum peer)i);

        printf("  %9.1f  %7.2f  %7.0f", pace.per_second, pace.cpu_us, pace.p99_us);
    }
    printf("\n");
}

/* Print rows for all values of list number `list` and of the lists after it; value[] has the other values. */
static void rows(int list, int64_t value[LISTS])
{
    if (list == LISTS) {
        row(value);
        return;
    }
    for (int i = 0; i < lists[list].count; i++) {
        value[list] = lists[list].values[i];
        rows(list + 1, value);
    }
}

int main(int argc, char **argv)
{
    int64_t value[LISTS];

    if (argc == 2 && strcmp(argv[1], "--cells") == 0)
        return cells() ? 0 : 1;
    machine_preset("vm");
    for (int i = 1; i < argc; i++)
        read_option(argv[i]);
    heading();
    rows(0, value);
    return fflush(stdout) == 0 ? 0 : 2;
}
