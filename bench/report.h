/* SPDX-License-Identifier: MIT */
/* report.h - the results of a run, as tables for people or as JSON for programs. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

enum { REPORT_MAX_ROWS = 14, REPORT_MAX_REPETITIONS = 64, REPORT_MAX_GOALS = 6 };

/* How fair it was, and what it cost: one number for each repetition.  NaN: not known. */
struct report_fairness {
    double least_share[REPORT_MAX_REPETITIONS]; /* of the equal share */
    double median_wait_ns[REPORT_MAX_REPETITIONS];
    double p99_wait_ns[REPORT_MAX_REPETITIONS];
    double cpu_ns[REPORT_MAX_REPETITIONS]; /* of the process, for each operation */
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

/* The median of one row is at most so many times the best of another; at least, if more is
   better. */
struct report_goal {
    const char *ours, *peer;
    double ratio;
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
    struct report_goal goals[REPORT_MAX_GOALS]; /* up to the first without a peer */
    struct report_row rows[REPORT_MAX_ROWS];    /* the first is ours */
    size_t row_count;
};

void report_begin(bool json, const struct machine *m);
/* Sorts the samples. */
void report_table(struct report_table *t);
/* Something in words: in the text a line, in JSON nothing. */
void report_note(const char *text);
void report_end(void);

/* Add a goal; nothing if one of the two has no row with samples when it is printed. */
void report_goal(struct report_table *t, const char *ours, const char *peer, double ratio);

/* For a workload that writes its own results. */
bool report_json(void);
/* Begin an object in the list of results; the caller writes the rest and the bracket. */
void report_json_object(const char *workload, const char *setting);
/* ,"key":number, or null if it is none */
void report_json_number(const char *key, double value);
void report_json_string(const char *key, const char *value);

/* The row for a peer; added if it is not there. */
struct report_row *report_row(struct report_table *t, const char *peer);

/* Median of ours / best of theirs; NaN if one of them has not run.  Sorts the samples. */
double report_ratio(struct report_table *t, const char *ours, const char *peer);

/* The machine fails us: say so and stop. */
noreturn void report_die(const char *what, int err);

#endif /* BENCH_REPORT_H */
