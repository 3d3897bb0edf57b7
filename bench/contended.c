/* SPDX-License-Identifier: MIT */
/*
 * contended.c - all threads want a unit all the time: the holds per second, the longest wait, and the processor
 * time of a hold.
 *
 * contended: short and long holds, few and many threads, one unit or two, all peers.
 *
 * price: the cost of strict order.  The peers are fairsem, fairsem without spinning, sem_t, and the best
 * published FIFO semaphore (array_sem.h).  The settings have 2 to 64 threads and holds of 1 to 50 us, alone and
 * alongside one busy process.  Further settings have several units, or threads that do something else between
 * their holds.
 */
#define _POSIX_C_SOURCE 200809L

#include "arena.h"
#include "clock.h"
#include "peers.h"
#include "report.h"
#include "workloads.h"

#include <stdio.h>
#include <string.h>

#define US NS_PER_US
#define MS NS_PER_MS
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct setting_text {
    char text[160];
};

/* bench.py finds settings by this text. */
static struct setting_text setting_text(const struct arena_plan *p)
{
    struct setting_text s;
    char between[60] = "", busy[60] = "";

    if (p->between_ns > 0)
        snprintf(between, sizeof(between), ", %g us%s between", (double)p->between_ns / US,
                 p->between_asleep ? " asleep" : "");
    if (p->busy_processes > 0)
        snprintf(busy, sizeof(busy), ", beside a busy process");
    snprintf(s.text, sizeof(s.text), "%d threads, %d unit%s, held %g us%s%s", p->threads,
             (int)p->units, p->units == 1 ? "" : "s", (double)p->hold_ns / US, between, busy);
    return s;
}

/* Run the plan with each peer in turn; each round begins with another peer.  `ops` ends with NULL. */
static void compare(const char *workload, struct arena_plan plan, const struct sem_ops *const *ops,
                    int64_t duration_ns, int repetitions)
{
    const struct setting_text setting = setting_text(&plan);
    struct arena_result r;
    int peers = 0;

    while (ops[peers])
        peers++;
    plan.duration_ns = duration_ns;
    plan.warm_up_ns = duration_ns / 5;
    for (int i = 0; i < repetitions * peers; i++) {
        plan.ops = ops[(i + i / peers) % peers];
        if (arena_run(&plan, &r))
            REPORT(workload, setting.text, plan.ops->name, { "holds_per_second", r.per_second },
                   { "longest_wait_ns", r.longest_ns }, { "least_share", r.least_share },
                   { "passed", r.passed }, { "cpu_ns", r.cpu_ns });
    }
}

void contended_run(bool quick)
{
    static const int64_t holds[] = { 0, US / 10, US, 10 * US, 100 * US };
    static const int threads[] = { 2, 4, 16, 64 };
#define OPS(peer) &ops_##peer,
    const struct sem_ops *const ops[] = { FOR_EACH_PEER(OPS) NULL };

    for (int units = 1; units <= 2; units++) {
        for (size_t h = 0; h < COUNT(holds); h++) {
            for (size_t n = 0; n < COUNT(threads); n++) {
                /* With many threads, fewer and longer repetitions: each thread needs several holds in each. */
                const int repetitions = quick ? 1 : threads[n] > 16 ? 5 : 15;

                compare("contended", (struct arena_plan){ .units = units, .threads = threads[n],
                                                          .hold_ns = holds[h] },
                        ops, quick ? 2 * MS : 450 * MS / repetitions, repetitions);
            }
        }
    }
}

void price_run(bool quick)
{
    const struct sem_ops *const ops[] = { &ops_fairsem, &ops_parking, &ops_posix, array_sem_ops(), NULL };
    static const int threads[] = { 2, 3, 4, 8, 16, 64 };
    static const int64_t holds[] = { US, 2 * US, 5 * US, 10 * US, 50 * US };
    static const struct arena_plan open_loops[] = {
        { .threads = 16, .units = 2, .hold_ns = 2 * US },
        { .threads = 16, .units = 2, .hold_ns = 5 * US },
        { .threads = 16, .units = 4, .hold_ns = 2 * US },
        { .threads = 16, .units = 1, .hold_ns = 5 * US, .between_ns = 50 * US,
          .between_asleep = true },
        { .threads = 64, .units = 1, .hold_ns = 2 * US, .between_ns = 100 * US,
          .between_asleep = true },
        { .threads = 8, .units = 1, .hold_ns = 2 * US, .between_ns = 10 * US },
        { .threads = 16, .units = 1, .hold_ns = 50 * US, .between_ns = 50 * US },
    };
    const int64_t duration_ns = (quick ? 2 : 150) * MS;
    const int repetitions = quick ? 1 : 5;

    /* Quiet settings first: for some time after a busy one, no waiter stays awake, see doc/awake.md. */
    for (size_t i = 0; i < COUNT(open_loops); i++)
        compare("price", open_loops[i], ops, duration_ns, repetitions);
    for (int busy = 0; busy <= 1; busy++) {
        for (size_t n = 0; n < COUNT(threads); n++) {
            for (size_t h = 0; h < COUNT(holds); h++)
                compare("price", (struct arena_plan){ .units = 1, .threads = threads[n],
                                                      .hold_ns = holds[h], .busy_processes = busy },
                        ops, duration_ns, repetitions);
        }
    }
}
