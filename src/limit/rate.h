/* SPDX-License-Identifier: MIT */
/*
 * rate.h - starts per second: the gate in front of the queue of a name.
 *
 * The gate is a separate segment, which commands pass one at a time.  The command at the front waits until its
 * interval has passed since the last start, and then waits for its units in the queue of the name.  When it has
 * its units, it records the time of its start and leaves the gate.  If it dies before that, the next command
 * becomes the front, and the recorded time stays that of an earlier start.
 *
 * The capacity of the gate is the time of the last start, which the library thus locks, checks and repairs.
 * Each request at the gate takes more than half of all units, so only one request can be granted at a time.
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

/* Does another process use the gate: at its front or in its queue? */
bool rate_has_users(const char *name, bool global);

/* Remove the gate.  Returns EBUSY if it is in use, or if the last start was less than `interval_ns` ago. */
int rate_forget(const char *name, bool global, int64_t interval_ns);

/* Append the processes at the gate to `users`, which lists the users of the name and has room for `most`. */
void rate_add_users(const struct local_name *name, fairsem_shared_user_t *users, int *count, int most);

#endif
