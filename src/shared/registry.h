/* SPDX-License-Identifier: MIT */
/* registry.h - how tests open a segment. */
#ifndef FS_SHARED_REGISTRY_H
#define FS_SHARED_REGISTRY_H

#include "shared/handle.h"

/*
 * As fairsem_shared_open().  `apart`: a handle of its own, as if another process had opened it,
 * also if this one has; it is not in the registry.  A program in which this is to work replaces
 * the functions of kernel.h about life, so that each handle has a life of its own.
 */
int fs_shared_open(fairsem_shared_t **handle, const char *name, int oflag, mode_t mode,
                   const fairsem_shared_attr_t *attr, bool apart);

#endif
