/* SPDX-License-Identifier: MIT */
/* slot_sweep.h - slots that nobody uses any more are given up; the design is in slots.h. */
#ifndef FS_SLOT_SWEEP_H
#define FS_SLOT_SWEEP_H

#include <stdbool.h>

/* Before there is a slot. */
void fs_sweep_prepare(void);

/* There are many slots, and some more than at the last sweep. */
bool fs_sweep_is_due(void);

/* Look at some of the slots.  It takes the mutexes of idle semaphores, for a moment each. */
void fs_sweep(void);

/* A semaphore whose slot was given up is used again. */
void fs_sweep_was_too_early(void);

#endif
