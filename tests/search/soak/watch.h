/* SPDX-License-Identifier: MIT */
/*
 * watch.h - watches the actors: a line every ten seconds, their hearts, the memory.
 *
 * If an actor is silent for longer than the patience, the semaphores are dumped and the program is
 * stopped for a debugger.  The resident memory at the end is compared with that after the first
 * minute, or after half of a shorter run.
 */
#ifndef WATCH_H
#define WATCH_H

#include "soak.h"

struct watch {
    int64_t begin_ns, end_ns, settled_ns;
    int64_t patience_ns;
    int64_t settled_kib;        /* resident when it should have stopped growing */
    int64_t next_line_ns;
};

/* Returns when the time is over or an actor has complained. */
void watch_until(struct soak *s, struct watch *w, int64_t duration_ns, int64_t patience_ns);

/* Does not return if an actor that has not ended is silent. */
void watch_hearts(struct soak *s, const struct watch *w);

/* The last line, and the verdict on the memory. */
void watch_result(struct soak *s, const struct watch *w);

#endif
