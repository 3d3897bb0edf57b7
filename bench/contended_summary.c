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

static struct cell {
    struct arena_plan plan;
    struct best {
        const char *peer; /* NULL: no such peer has run */
        double ratio;
    } in_order, threads; /* the best that grants in order; the best of these with threads */
    double ring, posix, parking, bounded;
    char title[100];
    struct report_side ours, theirs[2]; /* sem_t, and fairsem that does not spin */
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
    c->ring = futex_ring_ops() ? report_ratio(t, "fairsem", futex_ring_ops()->name) : NAN;
    c->posix = report_ratio(t, "fairsem", "sem_t");
    c->parking = report_ratio(t, "fairsem", ops_parking.name);
    snprintf(c->title, sizeof(c->title), "%s", t->title);
    c->ours = report_side(t, "fairsem");
    c->theirs[0] = report_side(t, "sem_t");
    c->theirs[1] = report_side(t, ops_parking.name);
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
    const char *goal = report_verdict(met(c));

    if (!report_json())
        printf("  %5lld %8s %7d  %-19s %-19s %7s %7s %7s %7s %9s %9s  %s\n",
               (long long)c->plan.units, hold, c->plan.threads, best_text(&c->in_order).text,
               best_text(&c->threads).text, ratio_text(c->ring).text,
               ratio_text(c->parking).text, ratio_text(c->posix).text,
               ratio_text(c->bounded).text, duration_text(c->longest_ns).text,
               duration_text(c->posix_longest_ns).text, goal);
    data_printf("contended.md", "| %lld | %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
                (long long)c->plan.units, hold, c->plan.threads, best_text(&c->in_order).text,
                best_text(&c->threads).text, ratio_text(c->ring).text,
                ratio_text(c->parking).text, ratio_text(c->posix).text,
                ratio_text(c->bounded).text, duration_text(c->longest_ns).text,
                duration_text(c->posix_longest_ns).text, goal);
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

        if (isnan(c->bounded))
            continue;
        count++;
        good += c->bounded >= GOAL_BOUNDED;
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
static void print_worst(int which)
{
    const struct cell *worst = NULL;
    double least = INFINITY;
    char title[120];

    for (int i = 0; i < cell_count; i++) {
        double ratio = which == 0 ? cells[i].posix : cells[i].parking;

        if (ratio < least) {
            least = ratio;
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
    print_worst(0);
    print_worst(1);
    fflush(stdout);
}
