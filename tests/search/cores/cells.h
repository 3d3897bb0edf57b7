/* SPDX-License-Identifier: MIT */
/*
 * cells.h - the cells of the test: machines and loads, each with a limit that fairsem must keep.
 *
 * A limit is relative to other figures simulated on the same machine, and does not depend on the model's absolute
 * times.
 */
#ifndef CORES_CELLS_H
#define CORES_CELLS_H

#include <stdbool.h>

/* Print all cells.  Returns false if one misses its limit, or keeps it although it is marked as missing it. */
bool cells(void);

#endif
