/* SPDX-License-Identifier: MIT */
/* cell_sweep.h - cells that nobody uses any more are given up; the design is in cells.h. */
#ifndef FS_CELL_SWEEP_H
#define FS_CELL_SWEEP_H

#include <stdbool.h>

/* Before there is a cell. */
void fs_sweep_prepare(void);

/* There are many cells, and some more than at the last sweep. */
bool fs_sweep_is_due(void);

/* Look at some of the cells.  It takes the mutexes of idle semaphores, for a moment each. */
void fs_sweep(void);

/* A semaphore whose cell was given up is used again. */
void fs_sweep_was_too_early(void);

#endif
