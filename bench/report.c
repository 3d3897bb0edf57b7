/* SPDX-License-Identifier: MIT */
/* report.c - the results of a run as tables for people; report_json.c writes them as JSON. */
#include "report.h"

#include "data_file.h"
#include "duration_text.h"
#include "progress.h"
#include "report_json.h"
#include "stats.h"

#include <fairsem.h>
#include <math.h>
#include <stdio.h>

static bool as_json, too_brief;

bool report_json(void)
{
    return as_json;
}

/* Text */

struct number_text {
    char text[32];
};

static struct number_text number_text(double value)
{
    struct number_text n = { "-" };

    if (!isnan(value))
        snprintf(n.text, sizeof(n.text), "%.*f",
                 fabs(value) < 99.95 ? 2 : fabs(value) < 999.5 ? 1 : 0, value);
    return n;
}

struct modes_text {
    char text[80];
};

/* Empty if one number can stand for all. */
static struct modes_text modes_text(const struct summary *s)
{
    struct modes_text m = { "" };

    if (!isnan(s->low_mode))
        snprintf(m.text, sizeof(m.text), "  bimodal: %s, %s", number_text(s->low_mode).text,
                 number_text(s->high_mode).text);
    return m;
}

static void number(double value, int width)
{
    printf("%*s", width, number_text(value).text);
}

static void text_head(const struct report_table *t)
{
    size_t repetitions = 0;

    for (size_t i = 0; i < t->row_count; i++) {
        if (t->rows[i].n > repetitions)
            repetitions = t->rows[i].n;
    }
    printf("\n%s\n  %s; %zu repetitions", t->title, t->pinning, repetitions);
    if (t->repetition_ns > 0)       /* else they end by themselves */
        printf(" of %s", duration_text((double)t->repetition_ns).text);
    printf(", peers in turn; %s\n", t->unit);
    printf("  %-22s %8s %19s", "", "median", "quartiles");
    if (!t->contended)
        printf(" %19s", "min .. max");
    else
        printf(" %9s %9s %12s %8s %8s %9s", "wait, 50%", "wait, 99%", "longest wait", "least",
               "passed", "CPU");
    if (t->multiples)
        printf(" %9s", t->multiples);
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

static void text_span(double from, double to)
{
    number(from, 9);
    printf(" ..");
    number(to, 8);
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
    text_span(s.q1, s.q3);
    if (t->contended)
        text_fairness(row);
    else
        text_span(s.min, s.max);
    if (t->multiples)
        number(report_ratio(t, row->peer, t->multiples_of), 10);
    if (row != &t->rows[0])
        number(report_ratio(t, t->rows[0].peer, row->peer), 9);
    else if (!isnan(s.low_mode))
        printf("%9s", "");
    printf("%s\n", modes_text(&s).text);
}

/* Goals and comparisons */

bool report_judges(void)
{
    return !too_brief;
}

const char *report_verdict(bool met)
{
    return !report_judges() ? "not judged" : met ? "met" : "missed";
}

struct report_side report_side(struct report_table *t, const char *peer)
{
    struct report_row *row = peer ? report_find(t, peer) : NULL;

    if (!row)
        return (struct report_side){ 0 };
    return (struct report_side){ peer, stats_summary(row->samples, row->n) };
}

/* A field of goals.tsv: median, quartiles and modes. */
static void data_side(const struct report_side *side)
{
    const struct summary *s = &side->s;

    if (side->peer)
        data_printf("goals.tsv", "%s\t%s (%s .. %s)%s\t", side->peer, number_text(s->median).text,
                    number_text(s->q1).text, number_text(s->q3).text, modes_text(s).text);
    else
        data_printf("goals.tsv", "-\t-\t");
}

void report_comparison(const char *title, const char *unit, const struct report_side *ours,
                       const struct report_side *theirs, const char *goal, const char *verdict)
{
    double ratio = theirs->peer ? ours->s.median / theirs->s.median : ours->s.median;

    if (!as_json)
        printf("  %s%s%s = %.4g%s%s, goal: %s%s%s\n", ours->peer, theirs->peer ? " / " : "",
               theirs->peer ? theirs->peer : "", ratio, theirs->peer ? "" : " ",
               theirs->peer ? "" : unit, goal, *verdict ? ": " : "", verdict);
    data_printf("goals.tsv", "%s\t%s\t", title, unit);
    data_side(ours);
    data_side(theirs);
    data_printf("goals.tsv", "%.4g\t%s\t%s\n", ratio, goal, *verdict ? verdict : "-");
}

static void goal(struct report_table *t, const struct report_goal *g)
{
    double ratio = report_ratio(t, g->ours, g->peer);
    struct report_side ours = report_side(t, g->ours), theirs = report_side(t, g->peer);
    char text[32] = "none";

    if (isnan(ratio))
        return;
    if (!isnan(g->most))
        snprintf(text, sizeof(text), "%s %.4g", t->more_is_better ? ">=" : "<=", g->most);
    report_comparison(t->title, t->unit, &ours, &theirs, text,
                      isnan(g->most) ? ""
                      : report_verdict(t->more_is_better ? ratio >= g->most : ratio <= g->most));
}

static void data_row(const struct report_table *t, const struct report_row *row)
{
    if (row->n > 0)
        data_printf("medians.tsv", "%s\t%s\t%s\t%s\t%.6g\n", t->workload, t->setting, row->peer,
                    t->unit, stats_median(row->samples, row->n));
}

void report_table(struct report_table *t)
{
    progress_clear();
    if (!as_json)
        text_head(t);
    for (size_t i = 0; i < t->row_count; i++) {
        data_row(t, &t->rows[i]);
        if (as_json)
            report_json_row(t, &t->rows[i]);
        else
            text_row(t, &t->rows[i]);
    }
    for (int i = 0; i < REPORT_MAX_GOALS && t->goals[i].ours; i++)
        goal(t, &t->goals[i]);
    fflush(stdout);
}

void report_note(const char *text)
{
    progress_clear();
    if (!as_json)
        printf("  %s\n", text);
}

void report_begin(bool json, bool quick, const struct machine *m)
{
    char line[512];

    as_json = json;
    too_brief = quick;
    machine_line(m, line, sizeof(line));
    data_printf("machine.txt", "%s\n", line);
    if (json) {
        report_json_begin(m);
        return;
    }
    printf("fairsem-bench %s\n%s\n", FAIRSEM_VERSION_STRING, line);
    if (m->load > 0.3)
        printf("other programs use the machine: longest waits contain their time slices\n");
    printf("fairsem/ is the median of fairsem divided by the median of that peer\n");
}

void report_end(void)
{
    if (as_json)
        report_json_end();
}
