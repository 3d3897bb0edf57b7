/* SPDX-License-Identifier: MIT */
/* registry.h - how tests open a segment. */
#ifndef FS_SHARED_REGISTRY_H
#define FS_SHARED_REGISTRY_H

#include "shared/handle.h"

/*
 * As fairsem_shared_open().  `apart`: make a new handle even if this process has one, as if another
 * process had opened the segment; it is not in the registry.  For this to work, a test replaces the
 * functions of kernel.h about life, so that each handle counts as a process.
 */
int fs_shared_open(fairsem_shared_t **handle, const char *name, int oflag, mode_t mode,
                   const fairsem_shared_attr_t *attr, bool apart);

#endif
