/* SPDX-License-Identifier: MIT */
/*
 * turn.h - wait in the line of a name until it is our turn.
 *
 * WHO MAY REMOVE A NAME.  A limit is fixed when its segment is made.  To change it, and to remove
 * it, a process takes all units of the segment, which works only while nobody runs or waits, and
 * then removes the name.  A process that was on its way into that segment is woken when it is
 * closed, sees that the name no longer leads there, and begins again.  So at no time do two
 * segments of one name have users that run.
 */
#ifndef LIMIT_TURN_H
#define LIMIT_TURN_H

#include "request.h"

#include <fairsem/shared.h>

/*
 * Wait.  Returns the handle, which holds the units; else a message has been printed and
 * *exit_status is set.  A signal that ends the wait ends the process.
 */
fairsem_shared_t *turn_take(const struct request *request, const char *segment, int *exit_status);

/* Remove a name.  Returns an exit status; a message has been printed if it is not 0. */
int turn_remove(const struct request *request, const char *segment);

/* What an errno value of the library means here. */
const char *turn_error(int error);

#endif
