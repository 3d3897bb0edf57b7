/* SPDX-License-Identifier: MIT */
/*
 * reentrant.h - a command inside a command of the same name runs in the place of the outer one, because it
 * would wait for itself otherwise.
 *
 * An entry of FAIRSEM_LIMIT_HELD, which fairsem-limit(1) describes, is only a hint.  It counts if its
 * process is an ancestor of this one, or is this one after an exec, and holds units of the segment now.
 * Otherwise the command waits in line.  So a reused process ID or a forged entry does no harm: no more
 * commands run than the limit allows.  With --cluster, where etcd may not answer, the process ID and the start
 * time are enough: the process retires (process.h) before it gives its units back.  An inner command that has
 * checked just before that runs alongside the next holder, like any process that outlives its outer command.
 */
#ifndef LIMIT_REENTRANT_H
#define LIMIT_REENTRANT_H

#include "request.h"

/*
 * Returns the process that already holds units for this one, which may be itself, or 0.  `units_of` returns
 * the units that a process holds now; `rest` is the rest of its entry after the process ID.
 */
long reentrant_holder(const char *segment, int64_t (*units_of)(void *arg, long pid, const char *rest), void *arg,
                      int64_t *units);

/* Are the units of the outer command enough for the request?  If not, print a message. */
bool reentrant_is_enough(const struct request *request, int64_t units);

/* Add an entry for this process, with `more` after the units.  Returns false if there is no memory. */
bool reentrant_announce(const char *segment, int64_t units, const char *more);

#endif
