/* SPDX-License-Identifier: MIT */
/*
 * rate.h - starts per second: the gate in front of the queue of a name.
 *
 * The gate is a separate segment.  Commands pass it one at a time, in order of arrival.  The command at the front
 * waits until its interval has passed since the last start, and then waits for its units in the queue of the name.
 * When it has these, it records its start and leaves the gate.  If it dies before, the next command becomes the
 * front, and the recorded start stays that of an earlier command.
 *
 * The capacity of the gate stores the time of the last start, and so is locked, checked and repaired like any
 * capacity.  Each request takes more than half of all units, so only one request can be granted at a time.
 */
#ifndef LIMIT_RATE_H
#define LIMIT_RATE_H

#include "local_name.h"

/* Open or make the gate.  Each function of this file that returns an int returns 0 or an errno value. */
int rate_open(struct local_name *name);

/* Wait for the front of the gate, then for the time of the next start.  Returns at once if already at the front. */
int rate_wait(struct local_name *name, const fairsem_wait_t *how);

/* Record that the command starts now, and leave the gate to the next command. */
int rate_start(struct local_name *name);

/* Leave the gate.  Does not record a start. */
void rate_leave(struct local_name *name);

/* Does another process wait at the gate, or pass it? */
bool rate_has_users(const char *name, bool global);

/* Remove the gate, unless it is in use, or the last start was less than `interval_ns` ago. */
int rate_forget(const char *name, bool global, int64_t interval_ns);

/* Append the processes that wait at the gate to those that wait in the queue of the name. */
void rate_add_users(const struct local_name *name, fairsem_shared_user_t *users, int *count, int most);

#endif
