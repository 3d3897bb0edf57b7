/* SPDX-License-Identifier: MIT */
/* report_json.h - the results as JSON: one object with the machine and a list of results. */
#ifndef BENCH_REPORT_JSON_H
#define BENCH_REPORT_JSON_H

#include "machine.h"
#include "report_table.h"

/* report.c calls these. */
void report_json_begin(const struct machine *m);
void report_json_row(struct report_table *t, struct report_row *row);
void report_json_end(void);

/*
 * For a workload that writes its own results: begin an object in the list of results.  The caller
 * writes the rest and the closing bracket.
 */
void report_json_object(const char *workload, const char *setting);
/* ,"key":number, or null for NaN */
void report_json_number(const char *key, double value);
void report_json_string(const char *key, const char *value);

#endif /* BENCH_REPORT_JSON_H */
