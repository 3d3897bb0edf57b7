/* SPDX-License-Identifier: MIT */
/* arena_row.h - a repetition in the arena, added to the row of its peer. */
#ifndef BENCH_ARENA_ROW_H
#define BENCH_ARENA_ROW_H

#include "arena.h"
#include "report_table.h"

/* The sample is in thousand holds per second. */
void arena_row_add(struct report_row *row, const struct arena_result *result);

#endif /* BENCH_ARENA_ROW_H */
