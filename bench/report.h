/* SPDX-License-Identifier: MIT */
/* report.h - the results of a run, as tables for people or as JSON for programs. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "machine.h"
#include "report_table.h"
#include "stats.h"

#include <stdbool.h>

/* quick: the run is too brief to judge a goal. */
void report_begin(bool json, bool quick, const struct machine *m);
/* Print a table.  It sorts the samples. */
void report_table(struct report_table *t);
/* A remark: a line in the text, nothing in JSON. */
void report_note(const char *text);
/*
 * Compare two rows in one line, in the text and in the table of goals.  goal says what the ratio
 * must be, for people.
 */
struct report_side {
    const char *peer; /* NULL: nothing, what is compared is the number itself */
    struct summary s;
};
/* The row of that peer, or nothing: NULL stands for nothing, too. */
struct report_side report_side(struct report_table *t, const char *peer);
void report_comparison(const char *title, const char *unit, const struct report_side *ours,
                       const struct report_side *theirs, const char *goal, const char *verdict);

/* The word for a goal: "met" or "missed"; "not judged" in a quick run, which judges none. */
bool report_judges(void);
const char *report_verdict(bool met);

void report_end(void);

/* True if the report is JSON; then a workload that writes its own results uses report_json.h. */
bool report_json(void);

#endif /* BENCH_REPORT_H */
