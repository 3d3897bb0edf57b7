/* SPDX-License-Identifier: MIT */
/*
 * contended_summary.c - all tables of the contended workload in one: fairsem beside whoever
 * is best of those that serve in order, beside the limit, and beside sem_t.
 *
 * The ratios are our median to the best repetition of the other one.
 */
#include "contended_summary.h"

#include "data_file.h"
#include "duration_text.h"
#include "foreign.h"
#include "futex_ring.h"
#include "peers.h"
#include "stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CELLS = 64 };
#define GOAL_IN_ORDER 1.5
#define GOAL_RING     0.95
#define GOAL_BOUNDED  0.8

static struct cell {
    struct arena_plan plan;
    const char *best; /* of those that serve in order; NULL: none has run */
    double in_order, ring, posix, bounded;
    double longest_ns, posix_longest_ns;
} cells[MAX_CELLS];
static int cell_count;

void contended_summary_begin(void)
{
    cell_count = 0;
}

/* Who is better than the best so far? */
static void consider(struct cell *c, struct report_table *t, const char *peer)
{
    double ratio = report_ratio(t, "fairsem", peer);

    if (isnan(ratio) || (c->best && ratio >= c->in_order))
        return;
    c->best = peer;
    c->in_order = ratio;
}

/* One block for each peer, hold and number of units: threads, holds a second, longest wait. */
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
        report_die("more cells than MAX_CELLS", 0);
    memset(c, 0, sizeof(*c));
    c->plan = *plan;
#define CONSIDER(peer) \
    if (ops_##peer.in_order) \
        consider(c, t, ops_##peer.name);
    FOR_EACH_PEER(CONSIDER)
    for (int i = 0; i < FOREIGN_PEERS; i++)
        consider(c, t, foreign_name(i));
    c->ring = futex_ring_ops() ? report_ratio(t, "fairsem", futex_ring_ops()->name) : NAN;
    c->posix = report_ratio(t, "fairsem", "sem_t");
    c->bounded = report_ratio(t, "fairsem bounded", "sem_t");
    c->longest_ns = report_row(t, "fairsem")->fair.longest_wait_ns;
    c->posix_longest_ns = report_row(t, "sem_t")->fair.longest_wait_ns;
    write_data(plan, t);
}

static bool met(const struct cell *c)
{
    return c->in_order >= GOAL_IN_ORDER || c->ring >= GOAL_RING;
}

static const char *ratio_text(double ratio, char *text, size_t size)
{
    if (isnan(ratio))
        return "-";
    snprintf(text, size, ratio < 9.995 ? "%.2f" : "%.1f", ratio);
    return text;
}

static void print_cell(const struct cell *c)
{
    char in_order[24], ring[24], posix[24], bounded[24];
    const char *hold = c->plan.hold_ns ? duration_text((double)c->plan.hold_ns).text : "0";

    ratio_text(c->in_order, in_order, sizeof(in_order));
    if (!report_json())
        printf("  %5lld %8s %7d %9s %-15s %9s %9s %9s %10s %10s  %s\n",
               (long long)c->plan.units, hold, c->plan.threads, c->best ? in_order : "-",
               c->best ? c->best : "", ratio_text(c->ring, ring, sizeof(ring)),
               ratio_text(c->posix, posix, sizeof(posix)),
               ratio_text(c->bounded, bounded, sizeof(bounded)),
               duration_text(c->longest_ns).text, duration_text(c->posix_longest_ns).text,
               met(c) ? "met" : "missed");
    data_printf("contended.md", "| %lld | %s | %d | %s %s | %s | %s | %s | %s | %s | %s |\n",
                (long long)c->plan.units, hold, c->plan.threads, c->best ? in_order : "-",
                c->best ? c->best : "", ratio_text(c->ring, ring, sizeof(ring)),
                ratio_text(c->posix, posix, sizeof(posix)),
                ratio_text(c->bounded, bounded, sizeof(bounded)),
                duration_text(c->longest_ns).text, duration_text(c->posix_longest_ns).text,
                met(c) ? "met" : "missed");
}

static void print_totals(void)
{
    int good = 0, bounded = 0, bounded_good = 0;

    for (int i = 0; i < cell_count; i++) {
        good += met(&cells[i]);
        bounded += !isnan(cells[i].bounded);
        bounded_good += cells[i].bounded >= GOAL_BOUNDED;
    }
    data_printf("goals.tsv", "contended: %d settings\tfairsem\tbest in order, or the ring\t-\t"
                ">= %.3g or %.3g\tmet in %d\n", cell_count, GOAL_IN_ORDER, GOAL_RING, good);
    if (bounded)
        data_printf("goals.tsv", "contended: %d settings\tfairsem bounded\tsem_t\t-\t>= %.3g\t"
                    "met in %d\n", bounded, GOAL_BOUNDED, bounded_good);
    if (report_json())
        return;
    printf("  goal: >= %.3g times the best in order, or >= %.3g times the ring: met in %d of %d\n",
           GOAL_IN_ORDER, GOAL_RING, good, cell_count);
    if (bounded)
        printf("  goal: fairsem bounded >= %.3g times sem_t: met in %d of %d\n", GOAL_BOUNDED,
               bounded_good, bounded);
}

void contended_summary_print(void)
{
    if (!report_json())
        printf("\ncontended, all together: holds a second, fairsem (median) / the other (best)\n"
               "  %5s %8s %7s %9s %-15s %9s %9s %9s %21s\n"
               "  %5s %8s %7s %9s %-15s %9s %9s %9s %10s %10s  %s\n", "", "", "", "best in", "",
               "ring of", "", "bounded /", "longest wait", "units", "hold", "threads", "order",
               "and who it is", "futexes", "sem_t", "sem_t", "fairsem", "sem_t", "goal");
    for (int i = 0; i < cell_count; i++)
        print_cell(&cells[i]);
    print_totals();
    fflush(stdout);
}
