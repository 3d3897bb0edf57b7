/* SPDX-License-Identifier: MIT */
/* acquire.h - the general acquire, for callers inside the library. */
#ifndef FS_ACQUIRE_H
#define FS_ACQUIRE_H

#include "wait.h"

/*
 * fairsem_acquire_with() after its checks; `refusal` is FS_WAIT_IF_NEED_BE or
 * FS_WAIT_THOUGH_CLOSED.
 */
int fs_acquire_with(struct fs_sem *s, int64_t n, const fairsem_wait_t *how, int refusal);

#endif
