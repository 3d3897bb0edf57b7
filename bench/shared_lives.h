/* SPDX-License-Identifier: MIT */
/* shared_lives.h - the second half of the workload `shared`: order, deaths, a thousand lives. */
#ifndef BENCH_SHARED_LIVES_H
#define BENCH_SHARED_LIVES_H

#include "report_table.h"

#include <stdbool.h>

void shared_lives_run(bool quick);

/* After a table: the longest sample of a peer in a table of its own, and the goal for it. */
void shared_longest(struct report_table *t, const char *setting, const char *peer, double most);

#endif /* BENCH_SHARED_LIVES_H */
