/* SPDX-License-Identifier: MIT */
/*
 * reentrant.h - a command inside a command of the same name uses the units of the outer command, because it
 * would otherwise wait for its own ancestor.
 *
 * An entry of FAIRSEM_LIMIT_HELD, which fairsem-limit(1) describes, names a process and is only a hint.  The
 * entry is valid if that process holds units of the segment now, and is an ancestor of this process, or this
 * process itself after an exec.  Without a valid entry the command waits in line.  So a reused process ID or a
 * forged entry lets no more commands run than the limit allows.
 *
 * With --cluster, the entry is valid as long as the process has the start time in the entry, because etcd may
 * not answer a query.  Before the process releases its units, it retires (process.h), which changes the start
 * time.  An inner command that has checked the entry just before may run alongside the next holder, like any
 * process that outlives its outer command.
 */
#ifndef LIMIT_REENTRANT_H
#define LIMIT_REENTRANT_H

#include "request.h"

/*
 * Returns the ID of the process whose units this process uses: an ancestor, or this process itself.  Returns 0
 * if there is none.  `units_of` returns the units that a process holds now; `rest` is the text of the process's
 * entry after the process ID.
 */
long reentrant_holder(const char *segment, int64_t (*units_of)(void *arg, long pid, const char *rest), void *arg,
                      int64_t *units);

/* Are `units`, those of the outer command, enough?  If not, prints a message. */
bool reentrant_is_enough(const struct request *request, int64_t units);

/* Add an entry for this process, with the text `more` after the units.  Returns false if there is no memory. */
bool reentrant_announce(const char *segment, int64_t units, const char *more);

#endif
