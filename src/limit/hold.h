/* SPDX-License-Identifier: MIT */
/*
 * hold.h - a place for the rest of a script, which lasts as long as a descriptor of that script is open.
 *
 * A child of fairsem-limit, the keeper, waits for the place and keeps it.  It puts a record lock on the open file of
 * the descriptor, and waits for a conflicting lock.  The kernel grants that when no process has the open file
 * open any longer, however those have ended.  So any kind of file will do.
 */
#ifndef LIMIT_HOLD_H
#define LIMIT_HOLD_H

#include "local.h"

/* Wait until the keeper has the place.  Returns an exit status; if it is not 0, a message has been printed. */
int hold_place(struct local_name *name);

#endif
