/* SPDX-License-Identifier: MIT */
/*
 * turn.h - a name of this machine: what fairsem-limit does with it.
 *
 * REMOVING A NAME.  The last user of a name removes it.  Another process may have opened the segment just
 * before.  It gets its units when the first one closes the segment, sees that the name no longer leads
 * there, and begins again.  So two segments of one name never have running users at the same time.
 * Users that leave at the same moment may all see each other, so each looks again when it has left.
 */
#ifndef LIMIT_TURN_H
#define LIMIT_TURN_H

#include "local_name.h"

/* ---- turn.c: wait in the line of the name until it is our turn; change and remove names ---- */

/* Find the name, and open its segment, if there is one.  Returns an errno value. */
int turn_open(struct local_name *name);

/*
 * Wait.  Returns true if it is our turn, in this segment; else *exit_status is set, and if that is not
 * TIMED_OUT, a message has been printed.
 * The handle holds the units; NULL: an outer command holds them.  A signal that ends the wait ends the
 * process.
 */
bool turn_take(struct local_name *name, int *exit_status);

/* Who holds units, then who waits, also for the rate.  The handle is open.  Returns an errno value. */
int turn_users(const struct local_name *name, const fairsem_shared_user_t **users, int *count);

/* Give the units back, and remove the name if nobody uses it and it need not stay. */
void turn_end(const struct local_name *name);

/* Change the limit of a name; remove a name.  Each returns an exit status: if not 0, there was a message. */
int turn_set_limit(struct local_name *name);
int turn_remove(const struct local_name *name);

/* 0; or say what an errno value of the library means for this name, and return OWN_FAILURE. */
int turn_result(const struct local_name *name, int error);

/* ---- status.c: who runs and who waits under the name ---- */

/* Print it, as a table or as JSON, once or each second.  Returns an exit status. */
int status_print(const struct request *request);

/*
 * The exit status after turn_take() has returned false with this one.  If the wait was too long, say so on stderr,
 * and who runs, unless it shall be quiet.
 */
int turn_gave_up(struct local_name *name, int exit_status);

#endif
