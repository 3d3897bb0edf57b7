/* SPDX-License-Identifier: MIT */
/* state.c - for the test build: is this transition in the table?  See state.h. */
#include "state.h"

#if FS_CHECKED

#include "invariant.h"

void fs_check_arrow(const struct fs_machine *machine, int from, int to)
{
    char what[80];

    if ((machine->arrows[from] & FS_TO(to)) != 0)
        return;
    snprintf(what, sizeof what, "the %s goes from state %d to %d", machine->name, from, to);
    fs_stop(FS_HERE "broken: ", what);
}

#else
typedef int translation_unit_not_empty;
#endif
