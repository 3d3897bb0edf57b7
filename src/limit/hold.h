/* SPDX-License-Identifier: MIT */
/*
 * hold.h - a place for the rest of a script: units that are held while a descriptor of the script is open.
 *
 * A child of fairsem-limit, the keeper, acquires the units and holds them.  It puts a record lock on the open file
 * behind the descriptor, and waits for a conflicting lock on another open file of the same file.  The kernel
 * grants this second lock when no process has the first open file any longer, however those processes ended.
 * This works with any kind of file.
 */
#ifndef LIMIT_HOLD_H
#define LIMIT_HOLD_H

#include "local.h"

/* Wait until the keeper holds the units.  Returns an exit status; if it is not 0, a message has been printed. */
int hold_place(struct local_name *name);

#endif
