/* SPDX-License-Identifier: MIT */
/* contended_summary.h - all tables of the contended workload in one. */
#ifndef BENCH_CONTENDED_SUMMARY_H
#define BENCH_CONTENDED_SUMMARY_H

#include "arena.h"
#include "report_table.h"

void contended_summary_begin(void);
void contended_summary_add(const struct arena_plan *plan, struct report_table *t);
/* Print it as text, and write it into the data files. */
void contended_summary_print(void);

#endif /* BENCH_CONTENDED_SUMMARY_H */
