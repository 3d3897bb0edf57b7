/* SPDX-License-Identifier: MIT */
/*
 * rate.h - starts per second: the gate in front of the queue of a name.
 *
 * The gate is a segment of its own, which one command at a time passes, in order of arrival.  At the front, a command
 * waits until its interval has passed since the last start, and then for its units in the queue of the name.  It
 * records its start, and lets the next one in.  If it dies before that, the next one is at the front, and the last
 * start is still the one before.
 *
 * The gate stores the time of the last start as its capacity, which is locked, checked and repaired like any
 * capacity.  Each request takes more than half of all units, so only one at a time can be granted.
 */
#ifndef LIMIT_RATE_H
#define LIMIT_RATE_H

#include "local_name.h"

/* Open or make the gate.  Each function of this file that returns an int returns 0 or an errno value. */
int rate_open(struct local_name *name);

/* Wait for the front of the gate, then for the time of the next start.  Returns at once if already at the front. */
int rate_wait(struct local_name *name, const fairsem_wait_t *how);

/* Record that the command starts now, and let the next one to the front. */
int rate_start(struct local_name *name);

/* Leave the gate, whether the command has started or will not start. */
void rate_leave(struct local_name *name);

/* Does another process wait at the gate, or start? */
bool rate_has_users(const char *name, bool global);

/* Remove the gate, unless it is in use, or its last start was less than `interval_ns` ago. */
int rate_forget(const char *name, bool global, int64_t interval_ns);

/* Append the processes that wait at the gate to those that wait in the queue of the name. */
void rate_add_users(const struct local_name *name, fairsem_shared_user_t *users, int *count, int most);

#endif
