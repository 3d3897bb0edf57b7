/* SPDX-License-Identifier: MIT */
/* repair.h - from the truth to a whole segment, without the dead (R2).  The lock is held. */
#ifndef FS_SHARED_REPAIR_H
#define FS_SHARED_REPAIR_H

#include "shared/handle.h"

/* 0; ENOTRECOVERABLE; EBADF: somebody else has to go on, `unfinished` says so. */
int fs_shared_repair(fairsem_shared_t *h);

/* Is the file what it was, and is anybody dead?  Then repair. */
int fs_shared_look(fairsem_shared_t *h);

/* Drop what an entry's former process has left, whose byte is ours now.  Repair must follow. */
int fs_shared_bury(fairsem_shared_t *h, int process);

#endif
