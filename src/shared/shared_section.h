/* SPDX-License-Identifier: MIT */
/*
 * shared_section.h - the critical section of a segment: lock, grant loop, unlock, wake.
 *
 * As in the core's section.c there is one way out, which grants what fits, so no path can forget
 * to grant.  The count stays in the segment, because the next process must find it there if we die.
 */
#ifndef FS_SHARED_SECTION_H
#define FS_SHARED_SECTION_H

#include "shared/lock.h"
#include "shared/repair.h"

/*
 * Take the lock, and repair if necessary.  Returns 0: the lock is held; ENOTRECOVERABLE, EBADF or
 * ETIMEDOUT, as fs_shared_lock(): it is not held.
 */
int fs_shared_section_begin(struct fs_shared_section *in, fairsem_shared_t *h,
                            enum fs_lock_mode mode, const struct fs_deadline *deadline);

/* Grant what fits to the living in the queue. */
void fs_shared_section_grant(struct fs_shared_section *in);

/* Grant, unlock, wake.  Returns the error of the section; the lock is no longer held in any case. */
int fs_shared_section_end(struct fs_shared_section *in);

/* The same for a call with this result: returns it, or the error of the section. */
int fs_shared_section_end_with(struct fs_shared_section *in, int result);

/* The same without a grant. */
int fs_shared_section_unlock(struct fs_shared_section *in);

/* A result that the section has so far: no error that is found from now on changes it. */
static inline int fs_shared_section_result(const struct fs_shared_section *in, int result)
{
    return in->error != 0 ? in->error : result;
}

/* Drop the dead, and rebuild the caches (R2). */
void fs_shared_section_repair(struct fs_shared_section *in, const struct fs_dead *dead);

/* Take a slot out of the queue without a grant.  If it kept watch, another does now (R4). */
void fs_shared_dequeue(struct fs_shared_section *in, int slot);

/* If its thread has abandoned this slot, free it; see fs_slot_state. */
void fs_shared_clean_up_abandoned(struct fs_shared_section *in, int slot);

/* Wake the thread of this slot when the lock has been dropped. */
void fs_shared_will_wake(struct fs_shared_section *in, int slot);

/* The time of this section; the clock is read only once. */
int64_t fs_shared_section_now(struct fs_shared_section *in);

#endif
