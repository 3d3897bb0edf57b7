/* SPDX-License-Identifier: MIT */
/*
 * report.h - results as JSON on standard output, a line for each repetition.  bench.py makes tables of
 * these lines.
 *
 * The first line describes the run.  Each other line has a workload, a setting, a peer, and the measured values.
 * The name of a value ends with its unit: _ns, _per_second.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

struct figure {
    const char *name;
    double      value;  /* NaN if unknown: the figure is left out */
};

/* quick: the run is too brief for meaningful figures. */
void report_begin(bool quick);

#define REPORT(workload, setting, peer, ...) \
    report_figures(workload, setting, peer, (const struct figure[]){ __VA_ARGS__, { NULL, 0 } })
void report_figures(const char *workload, const char *setting, const char *peer,
                    const struct figure *figures);

/* Report one figure that has many values. */
void report_list(const char *workload, const char *setting, const char *peer, const char *name,
                 const double *values, size_t count);

/* A remark, on standard error. */
void report_note(const char *text);

#endif /* BENCH_REPORT_H */
