/* SPDX-License-Identifier: MIT */
/*
 * reentrant.h - a command inside a command of the same name uses the units of the outer command, because it would
 * otherwise wait for its own ancestor.
 *
 * An entry of FAIRSEM_LIMIT_HELD, which fairsem-limit(1) describes, is only a hint.  It is valid if its process
 * holds units of the segment now, and is an ancestor of this process, or this process itself after an exec.
 * Without a valid entry the command waits in line.  So a reused process ID or a forged entry lets no more
 * commands run than the limit allows.  With --cluster, an entry is also valid if its process has the same start
 * time, because etcd may not answer; the process retires (process.h) before it releases its units.  An inner
 * command that has checked the entry just before may run alongside the next holder, like any process that
 * outlives its outer command.
 */
#ifndef LIMIT_REENTRANT_H
#define LIMIT_REENTRANT_H

#include "request.h"

/*
 * Returns the ID of the process whose units this process uses: an ancestor, or this process itself.  Returns 0 if
 * there is none.  `units_of` returns the units that a process holds now; `rest` is its entry after the process ID.
 */
long reentrant_holder(const char *segment, int64_t (*units_of)(void *arg, long pid, const char *rest), void *arg,
                      int64_t *units);

/* Returns true if the units of the outer command are enough, else prints a message and returns false. */
bool reentrant_is_enough(const struct request *request, int64_t units);

/* Add an entry for this process, with `more` after the units.  Returns false if there is no memory. */
bool reentrant_announce(const char *segment, int64_t units, const char *more);

#endif
