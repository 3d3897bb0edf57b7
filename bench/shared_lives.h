/* SPDX-License-Identifier: MIT */
/* shared_lives.h - the second half of the workload `shared`: order, deaths, a thousand lives. */
#ifndef BENCH_SHARED_LIVES_H
#define BENCH_SHARED_LIVES_H

#include <stdbool.h>

void shared_lives_run(bool quick);

#endif /* BENCH_SHARED_LIVES_H */
