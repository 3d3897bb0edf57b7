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
#include "report.h"
#include "workloads.h"

static const struct setting {
    const char *name, *title;
    struct arena_plan plan;
} settings[] = {
    { "asleep-0.1ms-2", "cpu: 2 threads, held 0.1 ms asleep",
      { .threads = 2, .units = 1, .hold_ns = 100 * NS_PER_US, .asleep = true } },
    { "asleep-0.1ms-16", "cpu: 16 threads, held 0.1 ms asleep",
      { .threads = 16, .units = 1, .hold_ns = 100 * NS_PER_US, .asleep = true } },
    { "asleep-1ms-2", "cpu: 2 threads, held 1 ms asleep",
      { .threads = 2, .units = 1, .hold_ns = NS_PER_MS, .asleep = true } },
    { "asleep-1ms-16", "cpu: 16 threads, held 1 ms asleep",
      { .threads = 16, .units = 1, .hold_ns = NS_PER_MS, .asleep = true } },
    { "busy-0.1ms-4", "cpu: 4 threads, held 0.1 ms busy",
      { .threads = 4, .units = 1, .hold_ns = 100 * NS_PER_US } },
    /* On two cores the holders need both. */
    { "busy-1us-4-2", "cpu: 4 threads, 2 units, held 1 us busy",
      { .threads = 4, .units = 2, .hold_ns = NS_PER_US } },
    { "busy-10us-4-2", "cpu: 4 threads, 2 units, held 10 us busy",
      { .threads = 4, .units = 2, .hold_ns = 10 * NS_PER_US } },
};
enum { SETTINGS = sizeof(settings) / sizeof(*settings) };

static void measure(const struct setting *s, bool quick)
{
    static const struct sem_ops *const ops[] = { &ops_fairsem, &ops_parking, &ops_posix };
    static struct report_table t;
    struct arena_plan plan = s->plan;

    report_table_begin(&t, "cpu", s->name, s->title, "ns of processor time per hold");
    plan.duration_ns = (quick ? 10 : 60) * NS_PER_MS;
    plan.warm_up_ns = plan.duration_ns / 4;
    report_goal(&t, ops[0]->name, ops[1]->name, 1.5);
    arena_compare(&t, plan, ops, 3, quick ? 1 : 15, 0, 1);
}

void cpu_run(bool quick)
{
    for (int i = 0; i < SETTINGS; i++)
        measure(&settings[i], quick);
#ifndef FAIRSEM_NO_SPIN
    report_note("this fairsem does not spin: the first two are the same");
#endif
}
