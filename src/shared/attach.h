/* SPDX-License-Identifier: MIT */
/*
 * attach.h - attaching this process to a segment, and detaching it.
 *
 * A process attaches when it opens the segment.  A forked child attaches before its first section.  A process
 * that lost its liveness lock, and was reaped as if it were dead, attaches again when it notices the loss.
 */
#ifndef FS_SHARED_ATTACH_H
#define FS_SHARED_ATTACH_H

#include "shared/shared_section.h"

/* Attach if necessary.  Returns 0, EUSERS, ENOLCK, ENOTRECOVERABLE, EBADF, or ETIMEDOUT as fs_shared_lock(). */
int fs_shared_ensure_attached(fairsem_shared_t *h, enum fs_lock_mode mode, const struct fs_deadline *deadline);

/* Detach, and release the units held.  Returns 0, or EBUSY if a thread is in an acquire. */
int fs_shared_detach(fairsem_shared_t *h);

/* Check our descriptor before we take units.  Returns 0, EBADF if it has been closed, or ENOTRECOVERABLE. */
int fs_shared_look_at_file(fairsem_shared_t *h);

/* Attach if necessary, and begin a section.  Returns 0, or an error of fs_shared_ensure_attached(). */
int fs_shared_enter(struct fs_shared_section *in, fairsem_shared_t *h,
                    enum fs_lock_mode mode, const struct fs_deadline *deadline);

/* As fs_shared_enter(), for a call that changes the whole segment: waits up to a second for the lock. */
int fs_shared_enter_soon(struct fs_shared_section *in, fairsem_shared_t *h);

/* Does this process have slots in use: waiting, granted or canceled? */
bool fs_shared_has_slots(const fairsem_shared_t *h);

/* In a forked child, forget the parent's entry, so that the child attaches. */
void fs_shared_check_fork(fairsem_shared_t *h);

#endif
