/* SPDX-License-Identifier: MIT */
/*
 * contended.c - all threads want a unit all the time: how many holds per second there are, how
 * long the threads wait, and what that costs; for short and long holds, few and many threads.
 */
#define _POSIX_C_SOURCE 200809L

#include "arena.h"
#include "clock.h"
#include "contended_summary.h"
#include "data_file.h"
#include "duration_text.h"
#include "foreign.h"
#include "peers.h"
#include "progress.h"
#include "report.h"
#include "workloads.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = PEERS + 2 + FOREIGN_PEERS };

/* The peers whose distribution of waits is drawn. */
#define WAITS_HOLD_NS INT64_C(10000)
enum { WAITS_THREADS = 16, WAITS_UNITS = 1 };

static struct contestant {
    const char *name;
    const struct sem_ops *ops; /* NULL: a peer in another language */
    int foreign;
    struct histogram waits;
} contestants[ROWS];
static int contestant_count;

static void add_ops(const struct sem_ops *ops)
{
    contestants[contestant_count++] = (struct contestant){ .name = ops->name, .ops = ops };
}

static void gather(void)
{
    contestant_count = 0;
#define ADD(peer) add_ops(&ops_##peer);
    FOR_EACH_PEER(ADD)
    add_ops(&ops_parking);
    if (futex_ring_ops())
        add_ops(futex_ring_ops());
    for (int i = 0; i < FOREIGN_PEERS; i++)
        contestants[contestant_count++] =
            (struct contestant){ .name = foreign_name(i), .foreign = i };
}

static bool drawn(const struct arena_plan *plan)
{
    return plan->hold_ns == WAITS_HOLD_NS && plan->threads == WAITS_THREADS
           && plan->units == WAITS_UNITS;
}

static void repetition(struct report_table *t, struct arena_plan *plan)
{
    for (int i = 0; i < contestant_count; i++) {
        struct contestant *c = &contestants[i];
        struct arena_result result;
        bool here;

        plan->ops = c->ops;
        here = c->ops ? arena_run(plan, &result) : foreign_run(c->foreign, plan, &result);
        if (here)
            arena_add(t, c->name, &result);
        if (here && drawn(plan))
            histogram_add_all(&c->waits, &result.waits);
    }
}

/*
 * Where a waiter that spins can hurt most, on two cores: it takes the core of a holder, or makes
 * a convoy of threads that would not meet otherwise.
 */
static bool spinning_can_hurt(const struct arena_plan *plan)
{
    return plan->threads == 4
           && (plan->hold_ns == NS_PER_US || (plan->hold_ns == 10 * NS_PER_US && plan->units == 2));
}

/*
 * The same time in all, in many parts for the spread; in few where there are many threads, so that
 * each of them has several turns in each part.
 */
static int divide_time(struct arena_plan *plan, bool quick)
{
    const int repetitions = quick ? 1 : plan->threads > 16 ? 5 : 15;

    plan->duration_ns = quick ? 2 * NS_PER_MS : 450 * NS_PER_MS / repetitions;
    plan->warm_up_ns = plan->duration_ns / 6;
    return repetitions;
}

static void measure(struct arena_plan *plan, bool quick, double done)
{
    static struct report_table t;
    const int repetitions = divide_time(plan, quick);
    char title[100], setting[60];

    snprintf(setting, sizeof(setting), "hold-%" PRId64 "ns-threads-%d-units-%" PRId64,
             plan->hold_ns, plan->threads, plan->units);
    snprintf(title, sizeof(title), "contended: held %s, %d threads, %" PRId64 " unit%s",
             plan->hold_ns ? duration_text((double)plan->hold_ns).text : "0", plan->threads,
             plan->units, plan->units == 1 ? "" : "s");
    report_table_begin(&t, "contended", setting, title, "thousand holds per second");
    t.repetition_ns = plan->duration_ns;
    t.more_is_better = t.contended = true;
    if (spinning_can_hurt(plan)) {
        report_goal(&t, "fairsem", "sem_t", NAN);
        report_goal(&t, "fairsem", ops_parking.name, NAN);
    }
    for (int i = 0; i < repetitions; i++) {
        progress_show(title, done);
        repetition(&t, plan);
    }
    report_table(&t);
    contended_summary_add(plan, &t);
}

/* The share of the waits that are at least so many nanoseconds long. */
static void write_waits(void)
{
    for (int i = 0; i < contestant_count; i++) {
        const struct histogram *h = &contestants[i].waits;
        long longer = h->all; /* waits longer than those in the buckets before */

        if (h->all == 0)
            continue;
        for (int b = 1; b < HISTOGRAM_BUCKETS; b++) {
            longer -= h->count[b - 1];
            if (h->count[b])
                data_printf("waits.tsv", "%s\t%g\t%g\n", contestants[i].name,
                            histogram_end(b - 1), (double)longer / (double)h->all);
        }
    }
}

void contended_run(bool quick)
{
    static const int64_t holds[] = { 0, 100, 1000, 10000, 100000 };
    static const int threads[] = { 2, 4, 16, 64 };
    enum { HOLDS = sizeof(holds) / sizeof(*holds), COUNTS = sizeof(threads) / sizeof(*threads) };
    struct arena_plan plan;
    int done = 0;

    /* The programs in other languages take seconds to start. */
    if (quick)
        report_note("semaphores of other languages skipped: --quick");
    else
        foreign_start();
    gather();
    contended_summary_begin();
    memset(&plan, 0, sizeof(plan));
    for (plan.units = 1; plan.units <= 2; plan.units++) {
        for (int h = 0; h < HOLDS; h++) {
            for (int n = 0; n < COUNTS; n++, done++) {
                plan.hold_ns = holds[h];
                plan.threads = threads[n];
                measure(&plan, quick, (double)done / (2 * HOLDS * COUNTS));
            }
        }
    }
    contended_summary_print();
    if (data_wanted())
        write_waits();
    foreign_end();
}
