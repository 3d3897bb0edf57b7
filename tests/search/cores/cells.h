/* SPDX-License-Identifier: MIT */
/*
 * cells.h - the cells of the test: machines and loads, each with a limit that fairsem must keep there.
 *
 * A limit is relative to what else was simulated on the same machine, so it does not depend on the model's
 * absolute times.
 */
#ifndef CORES_CELLS_H
#define CORES_CELLS_H

#include <stdbool.h>

/* Print all.  False if one misses its limit, or keeps it though it is marked as one that misses it. */
bool cells(void);

#endif
