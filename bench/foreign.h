/* SPDX-License-Identifier: MIT */
/* foreign.h - semaphores of other languages, each in a process of its own. */
#ifndef BENCH_FOREIGN_H
#define BENCH_FOREIGN_H

#include "arena.h"

enum { FOREIGN_PEERS = 3 };

/*
 * Start them all, and wait until they are ready.  Whoever cannot run here is left out, with
 * a note that says why.
 */
void foreign_start(void);

const char *foreign_name(int which);

/* Its waiters are threads; else tasks, and no thread need wake up to hand a unit on. */
bool foreign_has_threads(int which);

/* The plan without its ops; false if it does not run here. */
bool foreign_run(int which, const struct arena_plan *plan, struct arena_result *result);

void foreign_end(void);

#endif /* BENCH_FOREIGN_H */
