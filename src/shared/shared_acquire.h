/* SPDX-License-Identifier: MIT */
/* shared_acquire.h - an acquire after the fast path; see shared_acquire.c. */
#ifndef FS_SHARED_ACQUIRE_H
#define FS_SHARED_ACQUIRE_H

#include "shared/handle.h"
#include "system/deadline.h"

/*
 * Take n units, or wait for them until the deadline (which may be NULL), or until how->token is canceled.
 * If `refusal` is not 0, return it instead of waiting.  Cancellation point.  The lock is not held.
 */
int fs_shared_acquire(fairsem_shared_t *h, int64_t n, const fairsem_wait_t *how, int refusal,
                      const struct fs_deadline *deadline);

#endif
