/* SPDX-License-Identifier: MIT */
/*
 * hold.h - a place for the rest of a script, by a descriptor of that script.
 *
 * A child of fairsem-limit, the keeper, waits for the place and has it then.  It has put a record lock on the open
 * file that the descriptor leads to, and waits for that lock: the kernel grants it when no process has the open
 * file any more, however those have ended.  So it does not matter what kind of file that is.
 */
#ifndef LIMIT_HOLD_H
#define LIMIT_HOLD_H

#include "turn.h"

/* Return when the keeper has the place.  Returns an exit status; if it is not 0, there was a message. */
int hold_place(struct local_name *name);

#endif
