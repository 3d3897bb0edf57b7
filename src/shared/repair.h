/* SPDX-License-Identifier: MIT */
/* repair.h - drop the dead, and rebuild a segment from its truth (R2).  The lock is held. */
#ifndef FS_SHARED_REPAIR_H
#define FS_SHARED_REPAIR_H

#include "shared/handle.h"

/* 0; ENOTRECOVERABLE; EBADF: another process must finish the repair, as `unfinished` tells it. */
int fs_shared_repair(fairsem_shared_t *h);

/* Check the file; if a process is dead, repair. */
int fs_shared_inspect(fairsem_shared_t *h);

/* Drop the slots and units of a dead process; its byte may be ours by now.  Repair must follow. */
int fs_shared_bury(fairsem_shared_t *h, int process);

#endif
