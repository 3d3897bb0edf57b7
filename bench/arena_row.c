/* SPDX-License-Identifier: MIT */
/* arena_row.c - a repetition in the arena, added to the row of its peer. */
#include "arena_row.h"

#include <math.h>

void arena_row_add(struct report_row *row, const struct arena_result *r)
{
    struct report_fairness *fair = &row->fair;
    size_t i = row->n++;

    row->samples[i] = r->per_second / 1000;
    fair->least_share[i] = r->least_share;
    fair->median_wait_ns[i] = r->median_ns;
    fair->p99_wait_ns[i] = r->p99_ns;
    fair->cpu_ns[i] = r->cpu_ns;
    fair->longest_wait_ns = fmax(fair->longest_wait_ns, r->longest_ns);
    fair->passed += r->passed;
}
