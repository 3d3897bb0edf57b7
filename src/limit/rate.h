/* SPDX-License-Identifier: MIT */
/*
 * rate.h - starts per second: the gate in front of the line of a name.
 *
 * The gate is a segment of its own, which one command at a time passes, in order of arrival.  At the front, a command
 * waits until its interval has passed since the last start, and then for its units in the line of the name.  It
 * records its start, and lets the next one in.  If it dies before that, the next one is at the front, and the last
 * start is still the one before.
 *
 * The time of the last start is the number of units of the gate: it has the lock, the checks and the repair of that
 * number.  Each request asks for more than half of all units, so two of them never fit.
 */
#ifndef LIMIT_RATE_H
#define LIMIT_RATE_H

#include "local_name.h"

/* Open the gate, and make it if there is none.  Each function here that returns an int returns 0 or an errno value. */
int rate_open(struct local_name *name);

/* Wait for the front of the line, and there for the time of the next start.  Returns at once if it is the front. */
int rate_wait(struct local_name *name, const fairsem_wait_t *how);

/* The command starts now: the next one may come to the front. */
int rate_start(struct local_name *name);

/* The command does not start, or has started. */
void rate_leave(struct local_name *name);

/* Does another process wait there, or start? */
bool rate_has_users(const char *name, bool global);

/* Remove the gate, unless somebody uses it, or the last start is younger.  An interval of 0: whatever its age. */
int rate_forget(const char *name, bool global, int64_t interval_ns);

/* Append those that wait at the gate, behind those that wait in the line of the name. */
void rate_add_users(const struct local_name *name, fairsem_shared_user_t *users, int *count, int most);

#endif
