/* SPDX-License-Identifier: MIT */
/*
 * attach.h - how this process becomes a user of a segment, and ceases to be one.
 *
 * A process attaches when it opens the segment; a forked child does when it first enters it.  A
 * process that has lost its byte, so that others took it for dead, attaches again when it notices.
 */
#ifndef FS_SHARED_ATTACH_H
#define FS_SHARED_ATTACH_H

#include "shared/shared_section.h"

/* Become a user.  0; EUSERS, ENOLCK, ENOTRECOVERABLE, EBADF; ETIMEDOUT, as fs_shared_lock(). */
int fs_shared_ensure_attached(fairsem_shared_t *h, enum fs_lock_mode mode, const struct fs_deadline *deadline);

/* Cease to be a user; the units it holds go to the next waiter.  0, or EBUSY: a thread is in an acquire. */
int fs_shared_detach(fairsem_shared_t *h);

/* Before units are taken: EBADF, if this process has closed the descriptor; ENOTRECOVERABLE. */
int fs_shared_look_at_file(fairsem_shared_t *h);

/* Begin a section as a user of the segment: 0, or one of the above, and then there is nothing to
 * end. */
int fs_shared_enter(struct fs_shared_section *in, fairsem_shared_t *h,
                    enum fs_lock_mode mode, const struct fs_deadline *deadline);

/* As fs_shared_enter(), for a call that changes the segment as a whole: it waits for the lock for a second. */
int fs_shared_enter_soon(struct fs_shared_section *in, fairsem_shared_t *h);

/* Does a thread of this process wait, or has one still to receive its units? */
bool fs_shared_has_slots(const fairsem_shared_t *h);

/* In a forked child, forget the parent's entry, so that the child attaches. */
void fs_shared_check_fork(fairsem_shared_t *h);

#endif
