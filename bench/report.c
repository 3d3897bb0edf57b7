/* SPDX-License-Identifier: MIT */
/* report.c - the results of a run, as tables for people or as JSON for programs. */
#include "report.h"

#include "duration_text.h"
#include "progress.h"
#include "stats.h"

#include <fairsem.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool as_json;
static bool first_object = true;

/* JSON */

static void json_quoted(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            putchar('\\');
        if ((unsigned char)*s >= ' ')
            putchar(*s);
    }
    putchar('"');
}

void report_json_string(const char *key, const char *value)
{
    printf(",\"%s\":", key);
    json_quoted(value);
}

void report_json_number(const char *key, double value)
{
    if (isfinite(value))
        printf(",\"%s\":%.6g", key, value);
    else
        printf(",\"%s\":null", key);
}

void report_json_object(const char *workload, const char *setting)
{
    printf("%s{\"workload\":", first_object ? "" : ",\n");
    first_object = false;
    json_quoted(workload);
    report_json_string("setting", setting);
}

bool report_json(void)
{
    return as_json;
}

static void json_row(const struct report_table *t, const struct report_row *row,
                     const struct summary *s, double ratio, double median_ratio)
{
    report_json_object(t->workload, t->setting);
    report_json_string("peer", row->peer);
    report_json_string("unit", t->unit);
    report_json_string("pinning", t->pinning);
    report_json_number("repetitions", (double)row->n);
    report_json_number("repetition_ns", (double)t->repetition_ns);
    report_json_number("median", s->median);
    report_json_number("q1", s->q1);
    report_json_number("q3", s->q3);
    report_json_number("min", s->min);
    report_json_number("max", s->max);
    if (t->contended) {
        report_json_number("longest_wait_ns", row->longest_wait_ns);
        report_json_number("least_share", stats_quantile(row->least_share, row->n, 0.5));
    }
    if (row != &t->rows[0]) {
        report_json_number("fairsem_median_to_best", ratio);
        report_json_number("fairsem_median_to_median", median_ratio);
        if (t->goal_peer && strcmp(row->peer, t->goal_peer) == 0)
            report_json_number("goal", t->goal);
    }
    printf("}");
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
    printf("\n%s\n  %s; %zu repetitions of %s, peers in turn; %s\n", t->title, t->pinning,
           t->rows[0].n, duration_text((double)t->repetition_ns).text, t->unit);
    printf("  %-16s %8s %19s %19s", "", "median", "quartiles", "min .. max");
    if (t->contended)
        printf(" %12s %11s", "longest wait", "least share");
    printf(" %8s\n", "fairsem/");
}

static void text_row(const struct report_table *t, const struct report_row *row,
                     const struct summary *s, double ratio)
{
    printf("  %-16s ", row->peer);
    if (row->n == 0) {
        printf("%9s  not on this system\n", "-");
        return;
    }
    number(s->median, 8);
    number(s->q1, 8);
    printf(" ..");
    number(s->q3, 8);
    number(s->min, 9);
    printf(" ..");
    number(s->max, 8);
    if (t->contended) {
        printf(" %12s", duration_text(row->longest_wait_ns).text);
        printf(" %9.1f %%", 100 * stats_quantile(row->least_share, row->n, 0.5));
    }
    if (row != &t->rows[0])
        number(ratio, 9);
    printf("\n");
}

/*
 * Our median against their best is hard on us where the machine is noisy: what the peer
 * itself reaches by this measure says how hard.
 */
static void text_goal(const struct report_table *t, double ratio, const struct summary *ours,
                      const struct summary *theirs)
{
    bool met = t->more_is_better ? ratio >= t->goal : ratio <= t->goal;

    printf("  fairsem (median) / %s (best) = %.2f, goal %s %.2f: %s\n", t->goal_peer, ratio,
           t->more_is_better ? ">=" : "<=", t->goal, isnan(ratio) ? "-" : met ? "met" : "missed");
    printf("  median / median = %.2f; %s (median) / itself (best) = %.2f\n",
           ours->median / theirs->median, t->goal_peer,
           theirs->median / (t->more_is_better ? theirs->max : theirs->min));
}

void report_table(struct report_table *t)
{
    struct summary ours = stats_summary(t->rows[0].samples, t->rows[0].n);
    struct summary goal_peer = ours;
    double goal_ratio = NAN;

    progress_clear();
    if (!as_json)
        text_head(t);
    for (size_t i = 0; i < t->row_count; i++) {
        struct report_row *row = &t->rows[i];
        struct summary s = stats_summary(row->samples, row->n);
        double ratio = ours.median / (t->more_is_better ? s.max : s.min);

        stats_sort(row->least_share, row->n);
        if (as_json)
            json_row(t, row, &s, ratio, ours.median / s.median);
        else
            text_row(t, row, &s, ratio);
        if (t->goal_peer && strcmp(row->peer, t->goal_peer) == 0) {
            goal_ratio = ratio;
            goal_peer = s;
        }
    }
    if (!as_json && t->goal_peer)
        text_goal(t, goal_ratio, &ours, &goal_peer);
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
    if (!json) {
        machine_line(m, line, sizeof(line));
        printf("fairsem-bench %s\n%s\n", FAIRSEM_VERSION_STRING, line);
        if (m->load > 0.3)
            printf("others use the machine: longest waits contain their time slices\n");
        printf("fairsem/ is the median of fairsem divided by the best of that peer\n");
        return;
    }
    printf("{\"fairsem\":\"%s\"", FAIRSEM_VERSION_STRING);
    printf(",\"machine\":{\"cores\":%d", m->cores);
    report_json_number("load", m->load);
    report_json_string("cpu", m->cpu);
    report_json_string("kernel", m->kernel);
    report_json_string("libc", m->libc);
    report_json_string("clock", m->clock);
    report_json_string("compiler", m->compiler);
    printf("},\"results\":[\n");
}

void report_end(void)
{
    if (as_json)
        printf("\n]}\n");
}

struct report_row *report_row(struct report_table *t, const char *peer)
{
    struct report_row *row;

    for (size_t i = 0; i < t->row_count; i++) {
        if (strcmp(t->rows[i].peer, peer) == 0)
            return &t->rows[i];
    }
    if (t->row_count == REPORT_MAX_ROWS)
        report_die("more peers than REPORT_MAX_ROWS", 0);
    row = &t->rows[t->row_count++];
    row->peer = peer;
    row->n = 0;
    row->longest_wait_ns = NAN;
    return row;
}

noreturn void report_die(const char *what, int err)
{
    progress_clear();
    fprintf(stderr, "fairsem-bench: %s%s%s\n", what, err ? ": " : "", err ? strerror(err) : "");
    exit(1);
}
