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
    struct best {
        const char *peer; /* NULL: none has run */
        double ratio;
    } in_order, threads; /* of those that serve in order; of those whose waiters are threads */
    double ring, posix, bounded;
    double longest_ns, posix_longest_ns, bounded_longest_ns;
} cells[MAX_CELLS];
static int cell_count;

void contended_summary_begin(void)
{
    cell_count = 0;
}

/* Better than the best so far? */
static void consider(struct best *best, struct report_table *t, const char *peer)
{
    double ratio = report_ratio(t, "fairsem", peer);

    if (isnan(ratio) || (best->peer && ratio >= best->ratio))
        return;
    best->peer = peer;
    best->ratio = ratio;
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
        consider(&c->threads, t, ops_##peer.name);
    FOR_EACH_PEER(CONSIDER)
    for (int i = 0; i < FOREIGN_PEERS; i++) {
        if (foreign_has_threads(i))
            consider(&c->threads, t, foreign_name(i));
    }
    c->in_order = c->threads;
    for (int i = 0; i < FOREIGN_PEERS; i++)
        consider(&c->in_order, t, foreign_name(i));
    c->ring = futex_ring_ops() ? report_ratio(t, "fairsem", futex_ring_ops()->name) : NAN;
    c->posix = report_ratio(t, "fairsem", "sem_t");
    c->bounded = report_ratio(t, "fairsem bounded", "sem_t");
    c->longest_ns = report_row(t, "fairsem")->fair.longest_wait_ns;
    c->posix_longest_ns = report_row(t, "sem_t")->fair.longest_wait_ns;
    if (!isnan(c->bounded))
        c->bounded_longest_ns = report_row(t, "fairsem bounded")->fair.longest_wait_ns;
    write_data(plan, t);
}

static bool met(const struct cell *c)
{
    return (c->in_order.peer && c->in_order.ratio >= GOAL_IN_ORDER) || c->ring >= GOAL_RING;
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
    const char *hold = c->plan.hold_ns ? duration_text((double)c->plan.hold_ns).text : "0";
    const char *goal = met(c) ? "met" : "missed";

    if (!report_json())
        printf("  %5lld %8s %7d  %-19s %-19s %7s %7s %7s %9s %9s  %s\n",
               (long long)c->plan.units, hold, c->plan.threads, best_text(&c->in_order).text,
               best_text(&c->threads).text, ratio_text(c->ring).text, ratio_text(c->posix).text,
               ratio_text(c->bounded).text, duration_text(c->longest_ns).text,
               duration_text(c->posix_longest_ns).text, goal);
    data_printf("contended.md", "| %lld | %s | %d | %s | %s | %s | %s | %s | %s | %s | %s |\n",
                (long long)c->plan.units, hold, c->plan.threads, best_text(&c->in_order).text,
                best_text(&c->threads).text, ratio_text(c->ring).text, ratio_text(c->posix).text,
                ratio_text(c->bounded).text, duration_text(c->longest_ns).text,
                duration_text(c->posix_longest_ns).text, goal);
}

static void print_bounded(void)
{
    const struct cell *longest = NULL;
    int count = 0, good = 0;

    for (int i = 0; i < cell_count; i++) {
        const struct cell *c = &cells[i];

        if (isnan(c->bounded))
            continue;
        count++;
        good += c->bounded >= GOAL_BOUNDED;
        if (!longest || c->bounded_longest_ns > longest->bounded_longest_ns)
            longest = c;
    }
    if (!longest)
        return;
    data_printf("goals.tsv", "contended: %d settings\tfairsem bounded\tsem_t\t-\t>= %.3g\t"
                "met in %d\n", count, GOAL_BOUNDED, good);
    if (!report_json())
        printf("  goal: fairsem bounded >= %.3g times sem_t: met in %d of %d; its longest wait: %s,"
               " of %d threads that hold for %s\n", GOAL_BOUNDED, good, count,
               duration_text(longest->bounded_longest_ns).text, longest->plan.threads,
               duration_text((double)longest->plan.hold_ns).text);
}

static void print_totals(void)
{
    int good = 0;

    for (int i = 0; i < cell_count; i++)
        good += met(&cells[i]);
    data_printf("goals.tsv", "contended: %d settings\tfairsem\tbest in order, or the ring\t-\t"
                ">= %.3g or %.3g\tmet in %d\n", cell_count, GOAL_IN_ORDER, GOAL_RING, good);
    if (!report_json())
        printf("  goal: >= %.3g times the best in order, or >= %.3g times the ring: met in %d of "
               "%d\n", GOAL_IN_ORDER, GOAL_RING, good, cell_count);
    print_bounded();
}

void contended_summary_print(void)
{
    if (!report_json())
        printf("\ncontended, all together: holds a second, fairsem (median) / the other (best)\n"
               "  %5s %8s %7s  %-19s %-19s %7s %7s %7s %19s\n"
               "  %5s %8s %7s  %-19s %-19s %7s %7s %7s %9s %9s  %s\n",
               "", "", "", "the best that", "the best of these", "ring of", "", "bounded",
               "longest wait", "units", "hold", "threads", "serves in order", "with threads",
               "futexes", "sem_t", "/ sem_t", "fairsem", "sem_t", "goal");
    for (int i = 0; i < cell_count; i++)
        print_cell(&cells[i]);
    print_totals();
    fflush(stdout);
}
