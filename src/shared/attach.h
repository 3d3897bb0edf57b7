/* SPDX-License-Identifier: MIT */
/*
 * attach.h - this process becomes a user of a segment, and ceases to be one.
 *
 * It does so when it opens it; a forked child when it first enters; and a process that others took
 * for dead, because it has lost its byte, when it notices.
 */
#ifndef FS_SHARED_ATTACH_H
#define FS_SHARED_ATTACH_H

#include "shared/visit.h"

/* 0; EUSERS, ENOLCK, ENOTRECOVERABLE, EBADF. */
int fs_shared_attach(fairsem_shared_t *h);

/* What it holds goes to the next in line.  0, or EBUSY: a thread of it waits. */
int fs_shared_detach(fairsem_shared_t *h);

/* Begin a visit as a user of the segment: 0, or one of the above, and then there is nothing to
 * end. */
int fs_shared_enter(fairsem_shared_t *h, struct fs_visit *visit);

/* Is any slot in use by this process?  The lock is held. */
bool fs_shared_has_slots(const fairsem_shared_t *h);

/* A forked child has to attach. */
void fs_shared_check_fork(fairsem_shared_t *h);

#endif
