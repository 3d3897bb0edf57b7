/* SPDX-License-Identifier: MIT */
/*
 * cpu.c - the processor time of a wait.  A waiter that spins before it sleeps may run with its
 * unit sooner; but if the unit does not come soon, it has used that time for nothing.
 *
 * The holders sleep, as if they waited for a disk, so all processor time is that of waiting,
 * waking and falling asleep.  In the last settings they compute, and their own time is included.
 */
#define _POSIX_C_SOURCE 200809L

#include "arena.h"
#include "clock.h"
#include "peers.h"
#include "progress.h"
#include "report.h"
#include "workloads.h"

#include <math.h>

static const struct setting {
    const char *name, *title;
    int threads, units;
    int64_t hold_ns;
    bool asleep;
} settings[] = {
    { "asleep-0.1ms-2", "cpu: 2 threads, held 0.1 ms asleep", 2, 1, 100 * NS_PER_US, true },
    { "asleep-0.1ms-16", "cpu: 16 threads, held 0.1 ms asleep", 16, 1, 100 * NS_PER_US, true },
    { "asleep-1ms-2", "cpu: 2 threads, held 1 ms asleep", 2, 1, NS_PER_MS, true },
    { "asleep-1ms-16", "cpu: 16 threads, held 1 ms asleep", 16, 1, NS_PER_MS, true },
    { "busy-0.1ms-4", "cpu: 4 threads, held 0.1 ms busy", 4, 1, 100 * NS_PER_US, false },
    /* On two cores the holders need both. */
    { "busy-1us-4-2", "cpu: 4 threads, 2 units, held 1 us busy", 4, 2, NS_PER_US, false },
    { "busy-10us-4-2", "cpu: 4 threads, 2 units, held 10 us busy", 4, 2, 10 * NS_PER_US, false },
};
enum { SETTINGS = sizeof(settings) / sizeof(*settings) };

static void measure(const struct setting *s, bool quick)
{
    static const struct sem_ops *const ops[] = { &ops_fairsem, &ops_parking, &ops_posix };
    static struct report_table t;
    const int repetitions = quick ? 1 : 15;
    struct arena_plan plan = { .units = s->units, .threads = s->threads, .hold_ns = s->hold_ns,
                               .asleep = s->asleep };

    report_table_begin(&t, "cpu", s->name, s->title, "ns of processor time per hold");
    t.repetition_ns = plan.duration_ns = (quick ? 10 : 60) * NS_PER_MS;
    plan.warm_up_ns = plan.duration_ns / 4;
    report_goal(&t, ops[0]->name, ops[1]->name, 1.5);
    for (int i = 0; i < repetitions; i++) {
        progress_show(t.title, (double)i / repetitions);
        for (size_t p = 0; p < sizeof(ops) / sizeof(*ops); p++) {
            struct report_row *row = report_row(&t, ops[p]->name);
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
    report_note("this fairsem does not spin: the first two are the same");
#endif
}
