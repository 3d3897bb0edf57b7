/* SPDX-License-Identifier: MIT */
/* repair.h - drop the dead, and rebuild a segment from its truth (R2).  The lock is held. */
#ifndef FS_SHARED_REPAIR_H
#define FS_SHARED_REPAIR_H

#include "shared/trust.h"

/* Entries whose processes seem to be dead, as they were then.  More may be found the next time. */
#define FS_DEAD_MAX 16
struct fs_dead {
    int count;
    struct fs_dead_entry {
        int      process;
        uint32_t incarnation;
    } entry[FS_DEAD_MAX];
};

void fs_dead_add(struct fs_dead *dead, int process, uint32_t incarnation);

/*
 * Repair, and drop those of these that are dead indeed.  After EBADF another process must finish the
 * repair, as `unfinished` tells it.
 */
void fs_shared_repair(struct fs_shared_section *in, const struct fs_dead *dead);

/* Drop the slots and units of a dead process, whose byte may be ours by now.  Repair must follow. */
void fs_shared_reap(struct fs_shared_section *in, int process);

#endif
