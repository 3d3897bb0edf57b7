/* SPDX-License-Identifier: MIT */
/*
 * local.h - the operations of fairsem-limit on a name of this machine.  An operation returns an exit status
 * other than 0 only after a message.
 *
 * REMOVING A NAME.  The last user of a name removes the name, and then closes the segment.  Another process may
 * have opened the segment just before the removal.  That process gets its units when the last user closes the
 * segment, sees that the name no longer leads to this segment, and opens the name again.  So two segments of
 * one name never have running users at the same time.
 *
 * Two users that leave at the same moment may see each other, so that neither removes the name.  So a user that
 * has seen another user closes the segment, and then tries again to remove the name.
 */
#ifndef LIMIT_LOCAL_H
#define LIMIT_LOCAL_H

#include "local_name.h"

/* ---- local.c: wait in the queue of the name until the units are granted; change and remove names ---- */

/* Find the name, and open its segment.  Returns 0, ENOENT if there is no such name, or another errno value. */
int local_open(struct local_name *name);

/*
 * Wait for the units.  Returns true if name->handle holds the units, or if an outer command holds them and
 * name->handle is NULL.  Otherwise returns false with *exit_status; for TIMED_OUT, no message has been printed.
 * A signal that ends the wait also ends the process.
 */
bool local_acquire(struct local_name *name, int *exit_status);

/* List the holders of units, the waiters in the queue, and the waiters at the gate.  Returns an errno value. */
int local_users(const struct local_name *name, const fairsem_shared_user_t **users, int *count);

/*
 * Release the units, and remove the name if no process uses it.  A name with --keep stays, and so does a name
 * whose limit is not its initial limit.
 */
void local_release(const struct local_name *name);

/* Change the limit of a name; remove a name.  Each returns an exit status. */
int local_set_limit(struct local_name *name);
int local_remove(const struct local_name *name);

/* Returns 0 if error is 0.  Otherwise prints what error means for this name, and returns OWN_FAILURE. */
int local_result(const struct local_name *name, int error);

/* ---- status.c: running and waiting commands of the name ---- */

/* Print the status, once or each second.  Returns an exit status. */
int status_print(const struct request *request);

/*
 * Returns the program's exit status after local_acquire() has failed with exit_status.  After a timeout, prints
 * the running commands, unless the request is quiet.
 */
int local_gave_up(struct local_name *name, int exit_status);

#endif
