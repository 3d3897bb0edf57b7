/* SPDX-License-Identifier: MIT */
/* acquire.h - an acquire that may have to wait, for other calls that wait in the queue. */
#ifndef FS_ACQUIRE_H
#define FS_ACQUIRE_H

#include "queueing.h"
#include "wait.h"

/*
 * An acquire or try of n units that the fast path did not take.  Deadline and token may be NULL.
 */
int fs_acquire_contended(struct fs_sem *s, int64_t n, int priority, enum fs_patience patience,
                         const struct fs_deadline *deadline, const fairsem_token_t *token);

#endif
