/* SPDX-License-Identifier: MIT */
/*
 * cpu.c - the processor time of a wait: a waiter that spins before it sleeps may be served
 * sooner, but where the unit does not come soon it has burned that time for nothing.
 *
 * Holders sleep, as if they waited for a disk: what is used up then is used by the waiting,
 * waking and falling asleep.  In the last setting they compute, and their own time is in it.
 */
#define _POSIX_C_SOURCE 200809L

#include "arena.h"
#include "clock.h"
#include "peer_parking.h"
#include "peers.h"
#include "progress.h"
#include "report.h"
#include "workloads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct setting {
    const char *name, *title;
    int threads;
    int64_t hold_ns;
    bool asleep;
} settings[] = {
    { "asleep-0.1ms-2", "cpu: 2 threads, held 0.1 ms asleep", 2, 100 * NS_PER_US, true },
    { "asleep-0.1ms-16", "cpu: 16 threads, held 0.1 ms asleep", 16, 100 * NS_PER_US, true },
    { "asleep-1ms-2", "cpu: 2 threads, held 1 ms asleep", 2, NS_PER_MS, true },
    { "asleep-1ms-16", "cpu: 16 threads, held 1 ms asleep", 16, NS_PER_MS, true },
    { "busy-0.1ms-4", "cpu: 4 threads, held 0.1 ms busy", 4, 100 * NS_PER_US, false },
};
enum { SETTINGS = sizeof(settings) / sizeof(*settings) };

static void measure(const struct setting *s, bool quick)
{
    static const struct sem_ops *const ops[] = { &ops_fairsem, &ops_parking, &ops_posix };
    static const char *const names[] = { "fairsem", "parks at once", "sem_t" };
    static struct report_table t;
    const int repetitions = quick ? 1 : 9;
    struct arena_plan plan = { .units = 1, .threads = s->threads, .hold_ns = s->hold_ns,
                               .asleep = s->asleep };

    memset(&t, 0, sizeof(t));
    t.workload = "cpu";
    t.setting = s->name;
    t.title = s->title;
    t.unit = "ns of processor time per hold";
    t.pinning = "not pinned";
    t.repetition_ns = plan.duration_ns = (quick ? 10 : 100) * NS_PER_MS;
    plan.warm_up_ns = plan.duration_ns / 4;
    report_goal(&t, "fairsem", "parks at once", 1.5);
    for (int i = 0; i < repetitions; i++) {
        progress_show(t.title, (double)i / repetitions);
        for (size_t p = 0; p < sizeof(ops) / sizeof(*ops); p++) {
            struct report_row *row = report_row(&t, names[p]);
            struct arena_result result;

            plan.ops = ops[p];
            if (arena_run(&plan, &result) && !isnan(result.cpu_ns))
                row->samples[row->n++] = result.cpu_ns;
        }
    }
    report_table(&t);
}

void cpu_run(bool quick)
{
    for (int i = 0; i < SETTINGS; i++)
        measure(&settings[i], quick);
#ifndef FAIRSEM_NO_SPIN
    report_note("nobody spins in this fairsem: the first two are the same");
#endif
}
