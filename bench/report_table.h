/* SPDX-License-Identifier: MIT */
/* report_table.h - the results of one workload: a row for each peer, and goals. */
#ifndef BENCH_REPORT_TABLE_H
#define BENCH_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPORT_MAX_ROWS = 14, REPORT_MAX_REPETITIONS = 64, REPORT_MAX_GOALS = 6 };

/* How fair a peer was, and what it cost: one number for each repetition.  NaN: not known. */
struct report_fairness {
    double least_share[REPORT_MAX_REPETITIONS]; /* 1: the equal share */
    double median_wait_ns[REPORT_MAX_REPETITIONS];
    double p99_wait_ns[REPORT_MAX_REPETITIONS];
    double cpu_ns[REPORT_MAX_REPETITIONS]; /* of the process, per operation */
    double longest_wait_ns;                /* over all repetitions */
    double passed;                         /* waits, in all repetitions */
};

/* One peer: one number for each repetition. */
struct report_row {
    const char *peer;
    double samples[REPORT_MAX_REPETITIONS];
    size_t n;
    struct report_fairness fair;
};

/*
 * The median of one row is at most `most` times the median of another; without another, at most
 * `most` itself.  If more is better, at least.  NaN: no goal, the two are only compared.
 */
struct report_goal {
    const char *ours, *peer;
    double most;
};

struct report_table {
    const char *workload; /* a word, for programs */
    const char *setting;  /* a word, for programs */
    const char *title;    /* for people */
    const char *pinning;
    const char *unit;     /* of the samples: "ns per pair" */
    int64_t repetition_ns;
    bool more_is_better;
    bool contended; /* print the columns about fairness */
    /* If not NULL, a column of this name shows the medians as multiples of this row's. */
    const char *multiples, *multiples_of;
    struct report_goal goals[REPORT_MAX_GOALS]; /* up to the first without a row */
    struct report_row rows[REPORT_MAX_ROWS];    /* the first is ours */
    size_t row_count;
};

/*
 * Empty a table and name it.  The caller sets what else is not zero; "not pinned" stands until
 * then.
 */
void report_table_begin(struct report_table *t, const char *workload, const char *setting,
                        const char *title, const char *unit);

/* The row for a peer, or NULL. */
struct report_row *report_find(struct report_table *t, const char *peer);

/* The row for a peer, which is added if it is not there. */
struct report_row *report_row(struct report_table *t, const char *peer);

/* Add a sample to the row of a peer. */
void report_add(struct report_table *t, const char *peer, double sample);

/* Add a goal.  It is not printed if one of its rows has no samples then. */
void report_goal(struct report_table *t, const char *ours, const char *peer, double most);

/* Our median divided by their median, or by 1 if they are NULL; NaN if one of them has not run. */
double report_ratio(struct report_table *t, const char *ours, const char *peer);

#endif /* BENCH_REPORT_TABLE_H */
