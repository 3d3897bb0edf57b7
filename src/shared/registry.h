/* SPDX-License-Identifier: MIT */
/* registry.h - how a test opens a segment several times in one process. */
#ifndef FS_SHARED_REGISTRY_H
#define FS_SHARED_REGISTRY_H

#include "shared/handle.h"

/*
 * The next open of the same segment makes a new handle.  A test that also replaces the functions of
 * kernel.h about life so has several handles, each of which counts as a process.  No other thread may
 * open or close a segment meanwhile.
 */
void fs_shared_unregister(fairsem_shared_t *h);

#endif
