/* SPDX-License-Identifier: MIT */
/*
 * contended_summary.c - all tables of the contended workload in one: fairsem is compared with the
 * best peer that grants in order, with the limit, and with sem_t.
 *
 * A ratio is fairsem's median divided by the median of the other.
 */
#include "contended_summary.h"

#include "data_file.h"
#include "die.h"
#include "duration_text.h"
#include "foreign.h"
#include "peers.h"
#include "report.h"
#include "stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CELLS = 64 };
#define GOAL_IN_ORDER 1.5
#define GOAL_RING     0.95
#define GOAL_BOUNDED  0.8

enum other { RING, PARKING, POSIX, BOUNDED, OTHERS };

static struct cell {
    struct arena_plan plan;
    struct best {
        const char *peer; /* NULL: no such peer has run */
        double ratio;
    } in_order, threads; /* the best that grants in order; the best of these with threads */
    double ratio[OTHERS]; /* fairsem / the other; fairsem bounded / sem_t */
    char title[100];
    struct report_side ours, theirs[OTHERS];
    double longest_ns, posix_longest_ns, bounded_longest_ns;
} cells[MAX_CELLS];
static int cell_count;

void contended_summary_begin(void)
{
    cell_count = 0;
}

/* Keep the peer if it is better than the best so far. */
static void consider(struct best *best, struct report_table *t, const char *peer)
{
    double ratio = report_ratio(t, "fairsem", peer);

    if (isnan(ratio) || (best->peer && ratio >= best->ratio))
        return;
    best->peer = peer;
    best->ratio = ratio;
}

/* One block for each peer, hold and number of units: threads, holds per second, longest wait. */
static void write_data(const struct arena_plan *plan, struct report_table *t)
{
    for (size_t i = 0; i < t->row_count; i++) {
        struct report_row *row = &t->rows[i];
        struct summary s = stats_summary(row->samples, row->n);

        data_printf("contended.tsv", "%lld\t%lld\t%d\t%s\t%g\t%g\t%g\t%g\t%g\t%g\n",
                    (long long)plan->units, (long long)plan->hold_ns, plan->threads, row->peer,
                    1000 * s.median, 1000 * s.min, 1000 * s.max, row->fair.longest_wait_ns,
                    stats_median(row->fair.least_share, row->n),
                    stats_median(row->fair.cpu_ns, row->n));
    }
}

void contended_summary_add(const struct arena_plan *plan, struct report_table *t)
{
    struct cell *c = &cells[cell_count++];

    if (cell_count > MAX_CELLS)
        die("more cells than MAX_CELLS", 0);
    memset(c, 0, sizeof(*c));
    c->plan = *plan;
#define CONSIDER(peer) \
    if (ops_##peer.in_order) \
        consider(&c->threads, t, ops_##peer.name);
    FOR_EACH_PEER(CONSIDER)
    for (int i = 0; i < FOREIGN_PEERS; i++) {
        if (foreign_has_threads(i))
            consider(&c->threads, t, foreign_name(i));
    }
    c->in_order = c->threads;
    for (int i = 0; i < FOREIGN_PEERS; i++)
        consider(&c->in_order, t, foreign_name(i));
    for (enum other i = 0; i < BOUNDED; i++) {
        const struct sem_ops *const ops[] = { futex_ring_ops(), &ops_parking, &ops_posix };

        c->ratio[i] = ops[i] ? report_ratio(t, "fairsem", ops[i]->name) : NAN;
        c->theirs[i] = report_side(t, ops[i] ? ops[i]->name : NULL);
    }
    c->ratio[BOUNDED] = report_ratio(t, ops_bounded.name, ops_posix.name);
    c->ours = report_side(t, "fairsem");
    snprintf(c->title, sizeof(c->title), "%s", t->title);
    c->longest_ns = report_row(t, "fairsem")->fair.longest_wait_ns;
    c->posix_longest_ns = report_row(t, "sem_t")->fair.longest_wait_ns;
    if (!isnan(c->ratio[BOUNDED]))
        c->bounded_longest_ns = report_row(t, ops_bounded.name)->fair.longest_wait_ns;
    write_data(plan, t);
}

static bool met(const struct cell *c)
{
    return (c->in_order.peer && c->in_order.ratio >= GOAL_IN_ORDER) || c->ratio[RING] >= GOAL_RING;
}

struct ratio_text {
    char text[40];
};

static struct ratio_text ratio_text(double ratio)
{
    struct ratio_text r = { "-" };

    if (!isnan(ratio))
        snprintf(r.text, sizeof(r.text), ratio < 9.995 ? "%.2f" : "%.1f", ratio);
    return r;
}

static struct ratio_text best_text(const struct best *best)
{
    struct ratio_text r = { "-" };

    if (best->peer) {
        r = ratio_text(best->ratio);
        snprintf(r.text + strlen(r.text), sizeof(r.text) - strlen(r.text), " %s", best->peer);
    }
    return r;
}

static void print_cell(const struct cell *c)
{
#define FIELDS                                                                                  \
    (long long)c->plan.units,                                                                   \
        c->plan.hold_ns ? duration_text((double)c->plan.hold_ns).text : "0", c->plan.threads,   \
        best_text(&c->in_order).text, best_text(&c->threads).text,                              \
        ratio_text(c->ratio[RING]).text, ratio_text(c->ratio[PARKING]).text,                    \
        ratio_text(c->ratio[POSIX]).text, ratio_text(c->ratio[BOUNDED]).text,                   \
        duration_text(c->longest_ns).text, duration_text(c->posix_longest_ns).text,             \
        report_verdict(met(c))
    if (!report_json())
        printf("  %5lld %8s %7d  %-19s %-19s %7s %7s %7s %7s %9s %9s  %s\n", FIELDS);
    data_printf("contended.md", "| %lld | %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
                FIELDS);
}

/* A goal over many settings has no ratio, only the number of settings that met it. */
static void print_total(const char *peer, const char *goal, int good, int count)
{
    char verdict[60];

    snprintf(verdict, sizeof(verdict), "%s", report_verdict(good == count));
    if (good < count && report_judges())
        snprintf(verdict, sizeof(verdict), "missed in %d of %d", count - good, count);
    if (!report_json())
        printf("  %s: holds per second, goal: %s: %s\n", peer, goal, verdict);
    data_printf("goals.tsv", "contended: %d settings\tholds per second\t%s\t-\t-\t-\t-\t%s\t"
                "%s\n", count, peer, goal, verdict);
}

static void print_bounded(void)
{
    char goal[40];
    const struct cell *longest = NULL;
    int count = 0, good = 0;

    for (int i = 0; i < cell_count; i++) {
        const struct cell *c = &cells[i];

        if (isnan(c->ratio[BOUNDED]))
            continue;
        count++;
        good += c->ratio[BOUNDED] >= GOAL_BOUNDED;
        if (!longest || c->bounded_longest_ns > longest->bounded_longest_ns)
            longest = c;
    }
    if (!longest)
        return;
    snprintf(goal, sizeof(goal), ">= %.3g times sem_t", GOAL_BOUNDED);
    print_total("fairsem bounded", goal, good, count);
    if (!report_json())
        printf("  the longest wait of fairsem bounded: %s, of %d threads that hold for %s\n",
               duration_text(longest->bounded_longest_ns).text, longest->plan.threads,
               duration_text((double)longest->plan.hold_ns).text);
}

/* The setting that is worst for us beside theirs[which]: strict order has its price. */
static void print_worst(enum other which)
{
    const struct cell *worst = NULL;
    double least = INFINITY;
    char title[120];

    for (int i = 0; i < cell_count; i++) {
        if (cells[i].ratio[which] < least) {
            least = cells[i].ratio[which];
            worst = &cells[i];
        }
    }
    if (!worst)
        return;
    if (!report_json())
        printf("  the worst beside %s is %s\n  ", worst->theirs[which].peer, worst->title);
    snprintf(title, sizeof(title), "the worst: %s", worst->title);
    report_comparison(title, "thousand holds per second", &worst->ours,
                      &worst->theirs[which], "none", "");
}

static void print_totals(void)
{
    char goal[80];
    int good = 0;

    for (int i = 0; i < cell_count; i++)
        good += met(&cells[i]);
    snprintf(goal, sizeof(goal), ">= %.3g times the best in order, or >= %.3g times the ring",
             GOAL_IN_ORDER, GOAL_RING);
    print_total("fairsem", goal, good, cell_count);
    print_bounded();
}

void contended_summary_print(void)
{
    if (!report_json())
        printf("\ncontended, all together: holds per second, fairsem / the other\n"
               "  %5s %8s %7s  %-19s %-19s %7s %7s %7s %7s %19s\n"
               "  %5s %8s %7s  %-19s %-19s %7s %7s %7s %7s %9s %9s  %s\n",
               "", "", "", "the best that", "the best of these", "ring of", "fairsem", "",
               "bounded", "longest wait", "units", "hold", "threads", "grants in order",
               "with threads", "futexes", "no spin", "sem_t", "/ sem_t", "fairsem", "sem_t",
               "goal");
    for (int i = 0; i < cell_count; i++)
        print_cell(&cells[i]);
    print_totals();
    print_worst(POSIX);
    print_worst(PARKING);
    fflush(stdout);
}
