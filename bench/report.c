/* SPDX-License-Identifier: MIT */
/* report.c - the results of a run, as tables for people; as JSON see report_json.c. */
#include "report.h"

#include "data_file.h"
#include "duration_text.h"
#include "progress.h"
#include "report_json.h"
#include "stats.h"

#include <fairsem.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool as_json;

bool report_json(void)
{
    return as_json;
}

/* Text */

static void number(double value, int width)
{
    if (isnan(value))
        printf("%*s", width, "-");
    else
        printf("%*.*f", width, fabs(value) < 99.95 ? 2 : fabs(value) < 999.5 ? 1 : 0, value);
}

static void text_head(const struct report_table *t)
{
    size_t repetitions = 0;

    for (size_t i = 0; i < t->row_count; i++) {
        if (t->rows[i].n > repetitions)
            repetitions = t->rows[i].n;
    }
    printf("\n%s\n  %s; %zu repetitions of %s, peers in turn; %s\n", t->title, t->pinning,
           repetitions, duration_text((double)t->repetition_ns).text, t->unit);
    printf("  %-22s %8s", "", "median");
    if (!t->contended)
        printf(" %19s", "quartiles");
    printf(" %19s", "min .. max");
    if (t->contended)
        printf(" %9s %9s %12s %8s %8s %9s", "wait, 50%", "wait, 99%", "longest wait", "least",
               "passed", "CPU");
    printf(" %8s\n", "fairsem/");
}

static void text_fairness(const struct report_row *row)
{
    const struct report_fairness *f = &row->fair;

    printf(" %9s", duration_text(stats_median(f->median_wait_ns, row->n)).text);
    printf(" %9s", duration_text(stats_median(f->p99_wait_ns, row->n)).text);
    printf(" %12s", duration_text(f->longest_wait_ns).text);
    printf(" %6.1f %%", 100 * stats_median(f->least_share, row->n));
    if (isnan(f->passed))
        printf(" %8s", "-");
    else
        printf(" %8.0f", f->passed);
    printf(" %9s", duration_text(stats_median(f->cpu_ns, row->n)).text);
}

static void text_row(struct report_table *t, struct report_row *row)
{
    struct summary s = stats_summary(row->samples, row->n);

    printf("  %-22s ", row->peer);
    if (row->n == 0) {
        printf("%8s  not here\n", "-");
        return;
    }
    number(s.median, 8);
    if (!t->contended) {
        number(s.q1, 9);
        printf(" ..");
        number(s.q3, 8);
    }
    number(s.min, 9);
    printf(" ..");
    number(s.max, 8);
    if (t->contended)
        text_fairness(row);
    if (row != &t->rows[0])
        number(report_ratio(t, t->rows[0].peer, row->peer), 9);
    printf("\n");
}

/* Goals */

static struct report_row *find(struct report_table *t, const char *peer)
{
    for (size_t i = 0; i < t->row_count; i++) {
        if (strcmp(t->rows[i].peer, peer) == 0)
            return &t->rows[i];
    }
    return NULL;
}

double report_ratio(struct report_table *t, const char *ours, const char *peer)
{
    struct report_row *us = find(t, ours), *them = find(t, peer);
    struct summary s;
    double best;

    if (!us || !them || us->n == 0 || them->n == 0)
        return NAN;
    s = stats_summary(them->samples, them->n);
    best = t->more_is_better ? s.max : s.min;
    return best > 0 ? stats_summary(us->samples, us->n).median / best : NAN;
}

void report_goal(struct report_table *t, const char *ours, const char *peer, double ratio)
{
    for (int i = 0; i < REPORT_MAX_GOALS; i++) {
        if (t->goals[i].peer)
            continue;
        t->goals[i] = (struct report_goal){ .ours = ours, .peer = peer, .ratio = ratio };
        return;
    }
    report_die("more goals than REPORT_MAX_GOALS", 0);
}

/*
 * Our median against their best is hard on us where the machine is noisy: what the peer
 * itself reaches by this measure says how hard.
 */
static void goal(struct report_table *t, const struct report_goal *g)
{
    double ratio = report_ratio(t, g->ours, g->peer);
    const char *sign = t->more_is_better ? ">=" : "<=", *result;

    if (isnan(ratio))
        return;
    result = (t->more_is_better ? ratio >= g->ratio : ratio <= g->ratio) ? "met" : "missed";
    if (!as_json) {
        const struct report_row *us = find(t, g->ours), *them = find(t, g->peer);

        printf("  %s (median) / %s (best) = %.3g, goal %s %.3g: %s\n", g->ours, g->peer, ratio,
               sign, g->ratio, result);
        printf("    median / median = %.3g; %s (median) / itself (best) = %.3g\n",
               stats_median(us->samples, us->n) / stats_median(them->samples, them->n), g->peer,
               report_ratio(t, g->peer, g->peer));
    }
    data_printf("goals.tsv", "%s\t%s\t%s\t%.3g\t%s %.3g\t%s\n", t->title, g->ours, g->peer,
                ratio, sign, g->ratio, result);
}

void report_table(struct report_table *t)
{
    progress_clear();
    if (!as_json)
        text_head(t);
    for (size_t i = 0; i < t->row_count; i++) {
        if (as_json)
            report_json_row(t, &t->rows[i]);
        else
            text_row(t, &t->rows[i]);
    }
    for (int i = 0; i < REPORT_MAX_GOALS && t->goals[i].peer; i++)
        goal(t, &t->goals[i]);
    fflush(stdout);
}

void report_note(const char *text)
{
    progress_clear();
    if (!as_json)
        printf("  %s\n", text);
}

void report_begin(bool json, const struct machine *m)
{
    char line[512];

    as_json = json;
    machine_line(m, line, sizeof(line));
    data_printf("machine.txt", "%s\n", line);
    if (json) {
        report_json_begin(m);
        return;
    }
    printf("fairsem-bench %s\n%s\n", FAIRSEM_VERSION_STRING, line);
    if (m->load > 0.3)
        printf("others use the machine: longest waits contain their time slices\n");
    printf("fairsem/ is the median of fairsem divided by the best of that peer\n");
}

void report_end(void)
{
    if (as_json)
        report_json_end();
}

struct report_row *report_row(struct report_table *t, const char *peer)
{
    struct report_row *row = find(t, peer);

    if (row)
        return row;
    if (t->row_count == REPORT_MAX_ROWS)
        report_die("more peers than REPORT_MAX_ROWS", 0);
    row = &t->rows[t->row_count++];
    memset(row, 0, sizeof(*row));
    row->peer = peer;
    return row;
}

noreturn void report_die(const char *what, int err)
{
    progress_clear();
    fprintf(stderr, "fairsem-bench: %s%s%s\n", what, err ? ": " : "", err ? strerror(err) : "");
    exit(1);
}
