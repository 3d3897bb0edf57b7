/* SPDX-License-Identifier: MIT */
/* shared_acquire.h - an acquire after the fast path; see shared_acquire.c. */
#ifndef FS_SHARED_ACQUIRE_H
#define FS_SHARED_ACQUIRE_H

#include "shared/handle.h"
#include "system/deadline.h"

/*
 * Take n units, or wait for them until the deadline, if it is not NULL, or until the token is canceled, with the
 * priority and the share of `how`.  `refusal` is the error to return instead of waiting, or 0.  Cancellation point.
 * The lock is not held.
 */
int fs_shared_acquire(fairsem_shared_t *h, int64_t n, const fairsem_wait_t *how, int refusal,
                      const struct fs_deadline *deadline);

#endif
