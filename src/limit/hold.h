/* SPDX-License-Identifier: MIT */
/*
 * hold.h - a place for the rest of a script: units that are held while a descriptor of the script is open.
 *
 * A child of fairsem-limit, the keeper, acquires the units and holds them.  The keeper puts a record lock on
 * the open file behind the descriptor, opens the same file again, and waits for a conflicting lock on the new
 * open file.  The kernel grants the conflicting lock when no process has the first open file any longer.  The
 * file must be one that this user can open again for reading and writing.
 */
#ifndef LIMIT_HOLD_H
#define LIMIT_HOLD_H

#include "local.h"

/* Wait until the keeper holds the units.  Returns 0, or an exit status after a message. */
int hold_place(struct local_name *name);

#endif
