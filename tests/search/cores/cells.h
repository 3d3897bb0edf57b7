/* SPDX-License-Identifier: MIT */
/*
 * cells.h - the cells of the test: a cell is a machine and a load, with a limit that fairsem must keep.
 *
 * The limit is a ratio of two figures simulated on the same machine, so it hardly depends on the absolute times
 * of the model.
 */
#ifndef CORES_CELLS_H
#define CORES_CELLS_H

#include <stdbool.h>

/* Run and print all cells.  Returns false if an unmarked cell misses its limit, or a marked cell keeps it. */
bool cells(void);

#endif
