/* SPDX-License-Identifier: MIT */
/*
 * turn.h - wait in the line of a name until it is our turn.
 *
 * REMOVING A NAME.  To give a name that is not used another limit, or to remove it, a process
 * takes all units of the segment, which works only while nobody runs or waits, and then
 * removes the name.  Another process may have opened the segment just before.  It gets its units
 * when the first one closes the segment, sees that the name no longer leads there, and begins
 * again.  So two segments of one name never have running users at the same time.
 */
#ifndef LIMIT_TURN_H
#define LIMIT_TURN_H

#include "request.h"

#include <fairsem/shared.h>

enum { NO_ROOM = -1 };

/*
 * Wait.  Returns true if it is our turn; else *exit_status is set, and if that is not TIMED_OUT, or
 * NO_ROOM for a new name, a message has been printed.
 * *handle holds the units; NULL: an outer command holds them.  A signal that ends the wait ends the
 * process.
 */
bool turn_take(const struct request *request, const char *segment, fairsem_shared_t **handle,
               int *exit_status);

/* Does the name still lead to this segment? */
bool turn_is_current(fairsem_shared_t *handle, const char *segment);

/*
 * Change the limit of a name, also while it is used.  It holds until the name is removed: commands
 * that say the limit with which the name was made follow it.  Returns an exit status; a message has
 * been printed if it is not 0.
 */
int turn_set_limit(const struct request *request, const char *segment);

/* Remove a name if nobody runs or waits.  Returns an errno value; EAGAIN: it is in use. */
int turn_remove_unused(const char *segment);

/* Remove a name.  Returns an exit status; a message has been printed if it is not 0. */
int turn_remove(const struct request *request, const char *segment);

/* 0; or say what an errno value of the library means for this name, and return OWN_FAILURE. */
int turn_result(const char *name, int error);

#endif
