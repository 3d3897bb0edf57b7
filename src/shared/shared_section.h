/* SPDX-License-Identifier: MIT */
/*
 * shared_section.h - the critical section of a segment: lock, grant loop, unlock, wake.
 *
 * As in the core's section.c there is one way out, which grants what fits, so no path can forget
 * to grant.  The count stays in the segment, because the next process must find it there if we die.
 */
#ifndef FS_SHARED_SECTION_H
#define FS_SHARED_SECTION_H

#include "shared/handle.h"
#include "shared/lock.h"
#include "shared/repair.h"

#define FS_WAKES 32

struct fs_shared_section {
    int64_t now_ns;             /* 0: no clock has been read yet */
    int     wakes;
    const _Atomic int *words[FS_WAKES];     /* to wake when the lock has been dropped */
};

/*
 * Take the lock, and repair if necessary.  Returns 0: the lock is held; ENOTRECOVERABLE, EBADF or
 * ETIMEDOUT, as fs_shared_lock(): it is not held.
 */
int fs_shared_section_begin(fairsem_shared_t *h, const struct fs_deadline *deadline,
                            struct fs_shared_section *section);

/* Grant what fits to the living in the queue.  0, ENOTRECOVERABLE, EBADF. */
int fs_shared_section_grant(fairsem_shared_t *h, struct fs_shared_section *section);

/* Grant, unlock, wake.  Returns 0 or an error; the lock is not held any more in any case. */
int fs_shared_section_end(fairsem_shared_t *h, struct fs_shared_section *section);

/* The same without a grant, after an error, which it returns. */
int fs_shared_section_fail(fairsem_shared_t *h, struct fs_shared_section *section, int error);

/* Drop the dead, and rebuild the caches (R2). */
int fs_shared_section_repair(fairsem_shared_t *h, struct fs_shared_section *section,
                             const struct fs_dead *dead);

/* Take a slot out of the queue without a grant.  If it kept watch, another does now (R4). */
int fs_shared_take_out(fairsem_shared_t *h, struct fs_shared_section *section, int slot);

/* Wake the thread of this slot when the lock has been dropped. */
void fs_shared_will_wake(fairsem_shared_t *h, struct fs_shared_section *section, int slot);

/* The time of this section; the clock is read only once. */
int64_t fs_shared_section_now(struct fs_shared_section *section);

#endif
