/* SPDX-License-Identifier: MIT */
/* workloads.h - the workloads of fairsem-bench. */
#ifndef BENCH_WORKLOADS_H
#define BENCH_WORKLOADS_H

#include <stdbool.h>

/* quick: run the workload only briefly, to check that it works. */
void uncontended_run(bool quick);
void handoff_run(bool quick);
void victim_run(bool quick);
void contended_run(bool quick);
void price_run(bool quick);
void buffer_run(bool quick);
void tenants_run(bool quick);
void wake_run(bool quick);
void expiry_run(bool quick);
void shared_run(bool quick);
void dropin_run(bool quick);

/* Does this program run under fairsem-run? */
bool dropin_is_used(void);

#endif /* BENCH_WORKLOADS_H */
