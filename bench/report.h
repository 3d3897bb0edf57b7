/* SPDX-License-Identifier: MIT */
/* report.h - the results of a run, as tables for people or as JSON for programs. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

enum { REPORT_MAX_ROWS = 12, REPORT_MAX_REPETITIONS = 64 };

/* One peer: one number for each repetition, and how fair it was. */
struct report_row {
    const char *peer;
    double samples[REPORT_MAX_REPETITIONS];
    size_t n;
    double longest_wait_ns; /* over all repetitions; NaN if nobody waits for long */
    double least_share[REPORT_MAX_REPETITIONS]; /* of the equal share, per repetition */
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
    /* The ratio to this row has a goal, at most (at least, if more is better); else NULL. */
    const char *goal_peer;
    double goal;
    struct report_row rows[REPORT_MAX_ROWS]; /* the first is ours */
    size_t row_count;
};

void report_begin(bool json, const struct machine *m);
/* Sorts the samples. */
void report_table(struct report_table *t);
/* Something in words: in the text a line, in JSON nothing. */
void report_note(const char *text);
void report_end(void);

/* For a workload that writes its own results. */
bool report_json(void);
/* Begin an object in the list of results; the caller writes the rest and the bracket. */
void report_json_object(const char *workload, const char *setting);
/* ,"key":number, or null if it is none */
void report_json_number(const char *key, double value);
void report_json_string(const char *key, const char *value);

/* The row for a peer; added if it is not there. */
struct report_row *report_row(struct report_table *t, const char *peer);

/* The machine fails us: say so and stop. */
noreturn void report_die(const char *what, int err);

#endif /* BENCH_REPORT_H */
