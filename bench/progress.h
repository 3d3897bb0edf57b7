/* SPDX-License-Identifier: MIT */
/* progress.h - one line on stderr that shows the progress, if stderr is a terminal. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdbool.h>

bool progress_visible(void);

/* done: 0 .. 1. */
void progress_show(const char *what, double done);

/* Remove the line.  Call it before anything else is printed. */
void progress_clear(void);

#endif /* BENCH_PROGRESS_H */
