/* SPDX-License-Identifier: MIT */
/*
 * rate.h - starts per second: the gate in front of the queue of a name.
 *
 * The gate is a separate segment, which commands pass one at a time.  The command at the front waits until its
 * interval has passed since the last start, and then waits for its units in the queue of the name.  After the
 * grant, the command records the time of its start and leaves the gate.  If the command dies before it has
 * recorded its start, the next command becomes the front, and the recorded time does not change.
 *
 * The capacity of the gate stores the time of the last start, so that the library locks, checks and repairs the
 * time.  Each request at the gate takes more than half of FAIRSEM_MAX_UNITS, so only one request can be granted
 * at a time.
 */
#ifndef LIMIT_RATE_H
#define LIMIT_RATE_H

#include "local_name.h"

/* Open or make the gate.  Each function of this file that returns an int returns 0 or an errno value. */
int rate_open(struct local_name *name);

/* Wait until this process is the front of the gate, and then until the time of the next start. */
int rate_wait(struct local_name *name, const fairsem_wait_t *how);

/* Record that the command starts now, and leave the gate to the next command. */
int rate_start(struct local_name *name);

/* Leave the gate.  Does not record a start. */
void rate_leave(struct local_name *name);

/* Is another process at the front of the gate or in the queue of the gate? */
bool rate_has_users(const char *name, bool global);

/*
 * Remove the gate.  Returns EBUSY if another process uses the gate, or if the last start was less than
 * `interval_ns` ago.
 */
int rate_forget(const char *name, bool global, int64_t interval_ns);

/* Append the processes at the gate to `users`, which lists the users of the name and has room for `most`. */
void rate_add_users(const struct local_name *name, fairsem_shared_user_t *users, int *count, int most);

#endif
