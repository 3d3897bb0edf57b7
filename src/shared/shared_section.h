/* SPDX-License-Identifier: MIT */
/*
 * shared_section.h - the critical section of a segment: lock, grant loop, unlock, wake.
 *
 * As in the core's section.c, the end of a section grants all requests that fit, so no path can forget to
 * grant.  Each change of the count of free units is stored in the segment at once, so that the count is not
 * lost if we die.
 */
#ifndef FS_SHARED_SECTION_H
#define FS_SHARED_SECTION_H

#include "shared/lock.h"
#include "shared/repair.h"

/*
 * Take the lock, and repair if necessary.  Returns 0 with the lock held; or, without the lock,
 * ENOTRECOVERABLE, EBADF or ETIMEDOUT, as fs_shared_lock().
 */
int fs_shared_section_begin(struct fs_shared_section *in, fairsem_shared_t *h,
                            enum fs_lock_mode mode, const struct fs_deadline *deadline);

/* As long as the front waiter fits: grant it if its process is alive, otherwise reap the process. */
void fs_shared_section_grant(struct fs_shared_section *in);

/* Grant, unlock, wake.  Returns the section's error, or 0.  The lock is released in any case. */
int fs_shared_section_end(struct fs_shared_section *in);

/*
 * As fs_shared_section_end().  Returns the section's error so far, or else `result`, or else an error at
 * the end.
 */
int fs_shared_section_end_with(struct fs_shared_section *in, int result);

/* End the section without the grant loop. */
int fs_shared_section_unlock(struct fs_shared_section *in);

/* Returns the section's error so far, or `result` if there is none. */
static inline int fs_shared_section_result(const struct fs_shared_section *in, int result)
{
    return in->error != 0 ? in->error : result;
}

/* Reap the dead, and compute the derived data again (R2).  Wakes the detectors: the former ones may be dead. */
void fs_shared_section_repair(struct fs_shared_section *in, const struct fs_dead *dead);

/* Dequeue a slot without a grant.  If the slot was a detector, wake the new detectors (R4). */
void fs_shared_dequeue(struct fs_shared_section *in, int slot);

/* Free the slot if it is abandoned. */
void fs_shared_clean_up_abandoned(struct fs_shared_section *in, int slot);

/* Wake the thread of this slot after the unlock. */
void fs_shared_will_wake(struct fs_shared_section *in, int slot);

/* Returns the time of this section; the clock is read only once. */
int64_t fs_shared_section_now(struct fs_shared_section *in);

#endif
