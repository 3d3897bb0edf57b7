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
 * With --cluster, etcd may not answer a query for the units.  So an entry with our endpoints is valid as long
 * as the start time in the entry is the start time of the process.  Before the process releases its units, it
 * retires (process.h), and process_stat() returns the start time 0.  An inner command that has checked the
 * entry just before the outer command retires may run alongside the next holder, like any process that outlives
 * its outer command.
 */
#ifndef LIMIT_REENTRANT_H
#define LIMIT_REENTRANT_H

#include "request.h"

/*
 * Returns the ID of the process whose units this process uses: an ancestor, or this process itself.  Returns 0
 * if there is no such process.  `units_of` returns the units that a process holds now; `rest` is the text after
 * the process ID in the entry of that process.
 */
long reentrant_holder(const char *segment, int64_t (*units_of)(void *arg, long pid, const char *rest), void *arg,
                      int64_t *units);

/* Are the `units` of the outer command enough for the request?  If not, prints a message. */
bool reentrant_is_enough(const struct request *request, int64_t units);

/* Add an entry for this process, with the text `more` after the units.  Returns false if there is no memory. */
bool reentrant_announce(const char *segment, int64_t units, const char *more);

#endif
