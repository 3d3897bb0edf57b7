/* SPDX-License-Identifier: MIT */
/* foreign.h - semaphores of other languages, each in a process of its own. */
#ifndef BENCH_FOREIGN_H
#define BENCH_FOREIGN_H

#include "arena.h"

enum { FOREIGN_PEERS = 3 };

/*
 * Start them all, and wait until they are ready.  A peer that cannot run here is left out, with
 * a note that says why.
 */
void foreign_start(void);

const char *foreign_name(int which);

/* True if its waiters are threads; else they are tasks, and a hand-off need not wake a thread. */
bool foreign_has_threads(int which);

/* Run the plan, whose ops are not used; false if the peer does not run here. */
bool foreign_run(int which, const struct arena_plan *plan, struct arena_result *result);

void foreign_end(void);

#endif /* BENCH_FOREIGN_H */
