/* SPDX-License-Identifier: MIT */
/* registry.h - for tests that open a segment several times in one process. */
#ifndef FS_SHARED_REGISTRY_H
#define FS_SHARED_REGISTRY_H

#include "shared/handle.h"

/*
 * Make the next open of the segment create a new handle.  If the test also replaces the liveness locks of
 * kernel.h, each handle counts as a process.  No other thread may open or close a segment meanwhile.
 */
void fs_shared_unregister(fairsem_shared_t *h);

#endif
