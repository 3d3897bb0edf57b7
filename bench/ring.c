/* SPDX-License-Identifier: MIT */
/*
 * ring.c - many threads want the only unit all the time and hold it for 2 us.  They are compared
 * with a ring of threads in which each passes the unit to the next through a bare futex.  Then the
 * same beside two threads that only compute, so the cores are never idle.
 */
#define _POSIX_C_SOURCE 200809L

#include "arena.h"
#include "clock.h"
#include "peers.h"
#include "report.h"
#include "workloads.h"

#include <stdio.h>

#define HOLD_NS INT64_C(2000)
enum { REPETITIONS = 15 };

static const struct sem_ops *ops[PEERS + 1];
static int ops_count;

static void measure(int threads, int busy, bool quick)
{
    static struct report_table t;
    char title[80], setting[32];
    struct arena_plan plan = { .units = 1, .threads = threads, .hold_ns = HOLD_NS, .busy = busy };

    snprintf(setting, sizeof(setting), "%d-threads%s", threads, busy ? "-busy" : "");
    snprintf(title, sizeof(title), "ring: %d threads, one unit, held %g us%s", threads,
             (double)HOLD_NS / 1000, busy ? ", beside 2 busy threads" : "");
    report_table_begin(&t, "ring", setting, title, "thousand holds per second");
    plan.duration_ns = quick ? 8 * NS_PER_MS : 90 * NS_PER_MS;
    plan.warm_up_ns = plan.duration_ns / 8;
    t.more_is_better = t.contended = true;
    if (futex_ring_ops())
        report_goal(&t, "fairsem", futex_ring_ops()->name, busy ? 0.90 : 1.0);
    arena_compare(&t, plan, ops, ops_count, quick ? 2 : REPETITIONS, 0, 1);
}

void ring_run(bool quick)
{
    static const int threads[] = { 4, 16, 64 };

    ops_count = 0;
#define ADD(peer) ops[ops_count++] = &ops_##peer;
    FOR_EACH_PEER(ADD)
    if (futex_ring_ops())
        ops[ops_count++] = futex_ring_ops();
    for (int busy = 0; busy <= 2; busy += 2) {
        for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++)
            measure(threads[i], busy, quick);
    }
    if (!futex_ring_ops())
        report_note("ring of futexes skipped: this system has no futexes");
}
