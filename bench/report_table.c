/* SPDX-License-Identifier: MIT */
/* report_table.c - see report_table.h. */
#include "report_table.h"

#include "die.h"
#include "stats.h"

#include <math.h>
#include <string.h>

void report_table_begin(struct report_table *t, const char *workload, const char *setting,
                        const char *title, const char *unit)
{
    memset(t, 0, sizeof(*t));
    t->workload = workload;
    t->setting = setting;
    t->title = title;
    t->unit = unit;
    t->pinning = "not pinned";
}

struct report_row *report_find(struct report_table *t, const char *peer)
{
    for (size_t i = 0; i < t->row_count; i++) {
        if (strcmp(t->rows[i].peer, peer) == 0)
            return &t->rows[i];
    }
    return NULL;
}

struct report_row *report_row(struct report_table *t, const char *peer)
{
    struct report_row *row = report_find(t, peer);

    if (row)
        return row;
    if (t->row_count == REPORT_MAX_ROWS)
        die("more peers than REPORT_MAX_ROWS", 0);
    row = &t->rows[t->row_count++];
    memset(row, 0, sizeof(*row));
    row->peer = peer;
    return row;
}

void report_add(struct report_table *t, const char *peer, double sample)
{
    struct report_row *row = report_row(t, peer);

    row->samples[row->n++] = sample;
}

static double median_of(struct report_table *t, const char *peer)
{
    const struct report_row *row = report_find(t, peer);

    return row ? stats_median(row->samples, row->n) : NAN;
}

double report_ratio(struct report_table *t, const char *ours, const char *peer)
{
    double median = peer ? median_of(t, peer) : 1;

    return median > 0 ? median_of(t, ours) / median : NAN;
}

void report_goal(struct report_table *t, const char *ours, const char *peer, double most)
{
    for (int i = 0; i < REPORT_MAX_GOALS; i++) {
        if (t->goals[i].ours)
            continue;
        t->goals[i] = (struct report_goal){ .ours = ours, .peer = peer, .most = most };
        return;
    }
    die("more goals than REPORT_MAX_GOALS", 0);
}
