/* SPDX-License-Identifier: MIT */
/*
 * held.h - a command inside a command of the same name: it runs in the place of the outer one, and
 * does not wait for itself.
 *
 * An entry of FAIRSEM_LIMIT_HELD, which fairsem-limit(1) describes, is only a hint.  It counts if that
 * process is an ancestor of ours, or is ourselves after an exec, and holds units of the segment now.  So it
 * does not matter whether the process ID was used again, or who has written the entry: in penalty we wait in
 * line, and no more run than the limit allows.  With --cluster the process and its start are enough, because
 * etcd may not answer: the process retires (process.h) before it gives its units back.  A command that has
 * asked just before that runs on beside the next one, like all that has begun inside an outer command and
 * outlives it.
 */
#ifndef LIMIT_HELD_H
#define LIMIT_HELD_H

#include "request.h"

/*
 * The process that holds units for us already, which may be this one; 0: there is none.  `units_of` knows
 * what a process holds now; `said` is what its entry says behind the process.
 */
long held_by(const char *segment, int64_t (*units_of)(void *arg, long pid, const char *said), void *arg,
             int64_t *units);

/* Does an outer command, which has these units, have as many as are asked for?  If not, it says so. */
bool held_is_enough(const struct request *request, int64_t units);

/* Add an entry for this process, with more behind the units.  False: no memory. */
bool held_announce(const char *segment, int64_t units, const char *more);

#endif
