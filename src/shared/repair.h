/* SPDX-License-Identifier: MIT */
/* repair.h - reap the dead, and rebuild a segment from its authoritative data (R2).  The lock is held. */
#ifndef FS_SHARED_REPAIR_H
#define FS_SHARED_REPAIR_H

#include "shared/trust.h"

/* Entries whose processes seem to be dead.  The next check finds entries that do not fit. */
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
 * Repair, and reap the processes in the list that are really dead.  After an error `unfinished` stays set,
 * so that another process repairs.
 */
void fs_shared_repair(struct fs_shared_section *in, const struct fs_dead *dead);

/*
 * Free the slots, units and entry of a dead process, whose liveness lock we may have.  The caller must
 * repair afterwards.
 */
void fs_shared_reap(struct fs_shared_section *in, int process);

#endif
