/* SPDX-License-Identifier: MIT */
/* progress.h - one line on stderr that says how far we are; nothing where that is no terminal. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdbool.h>

/* True if progress is shown at all. */
bool progress_visible(void);

/* done: 0 .. 1. */
void progress_show(const char *what, double done);

/* Take the line away again, before anything else is printed. */
void progress_clear(void);

#endif /* BENCH_PROGRESS_H */
