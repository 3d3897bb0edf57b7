/* SPDX-License-Identifier: MIT */
/* report_json.h - the results as JSON: what report.c calls. */
#ifndef BENCH_REPORT_JSON_H
#define BENCH_REPORT_JSON_H

#include "report.h"

void report_json_begin(const struct machine *m);
void report_json_row(struct report_table *t, struct report_row *row);
void report_json_end(void);

#endif /* BENCH_REPORT_JSON_H */
