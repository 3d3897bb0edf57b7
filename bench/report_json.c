/* SPDX-License-Identifier: MIT */
/* report_json.c - the results as JSON: one object with the machine and a list of results. */
#include "report_json.h"

#include "stats.h"

#include <fairsem.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool first_object = true;

static void quoted(const char *s)
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
    quoted(value);
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
    quoted(workload);
    report_json_string("setting", setting);
}

static void fairness(const struct report_row *row)
{
    const struct report_fairness *f = &row->fair;

    report_json_number("longest_wait_ns", f->longest_wait_ns);
    report_json_number("median_wait_ns", stats_median(f->median_wait_ns, row->n));
    report_json_number("p99_wait_ns", stats_median(f->p99_wait_ns, row->n));
    report_json_number("least_share", stats_median(f->least_share, row->n));
    report_json_number("waits_passed", f->passed);
    report_json_number("cpu_ns", stats_median(f->cpu_ns, row->n));
}

/* The goals that compare with this row. */
static void goals(struct report_table *t, const struct report_row *row)
{
    bool first = true;

    printf(",\"goals\":[");
    for (int i = 0; i < REPORT_MAX_GOALS && t->goals[i].ours; i++) {
        const struct report_goal *g = &t->goals[i];

        if (strcmp(g->ours, row->peer) != 0)
            continue;
        printf("%s{\"against\":", first ? "" : ",");
        quoted(g->peer ? g->peer : "");
        report_json_number("ratio", report_ratio(t, g->ours, g->peer));
        report_json_number(t->more_is_better ? "at_least" : "at_most", g->most);
        printf("}");
        first = false;
    }
    printf("]");
}

void report_json_row(struct report_table *t, struct report_row *row)
{
    const struct report_row *first = &t->rows[0];
    struct summary s = stats_summary(row->samples, row->n);

    report_json_object(t->workload, t->setting);
    report_json_string("peer", row->peer);
    report_json_string("unit", t->unit);
    report_json_string("pinning", t->pinning);
    report_json_number("repetitions", (double)row->n);
    report_json_number("repetition_ns", (double)t->repetition_ns);
    report_json_number("median", s.median);
    report_json_number("q1", s.q1);
    report_json_number("q3", s.q3);
    report_json_number("min", s.min);
    report_json_number("max", s.max);
    report_json_number("low_mode", s.low_mode);
    report_json_number("high_mode", s.high_mode);
    if (t->contended)
        fairness(row);
    if (t->multiples)
        report_json_number(t->multiples, report_ratio(t, row->peer, t->multiples_of));
    if (row != first)
        report_json_number("fairsem_to_this", report_ratio(t, first->peer, row->peer));
    goals(t, row);
    printf("}");
}

void report_json_begin(const struct machine *m)
{
    printf("{\"fairsem\":\"%s\"", FAIRSEM_VERSION_STRING);
    printf(",\"machine\":{\"cores\":%d", m->cores);
    report_json_number("load", m->load);
    report_json_string("cpu", m->cpu);
    report_json_string("kernel", m->kernel);
    report_json_string("libc", m->libc);
    report_json_string("clock", m->clock);
    report_json_string("compiler", m->compiler);
    report_json_string("parker", m->parker);
    printf("},\"results\":[\n");
}

void report_json_end(void)
{
    printf("\n]}\n");
}
