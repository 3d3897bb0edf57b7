/* SPDX-License-Identifier: MIT */
/* segment.h - what a new segment is like, and whether a file is one. */
#ifndef FS_SHARED_SEGMENT_H
#define FS_SHARED_SEGMENT_H

#include "shared/layout.h"

bool    fs_segment_attr_valid(const fairsem_shared_attr_t *attr);
int64_t fs_segment_size_for(const fairsem_shared_attr_t *attr);

/* Into a file of that size, all zero, which nobody else knows of yet; the header is also copied. */
int fs_segment_write(int fd, const fairsem_shared_attr_t *attr, struct fs_segment *header);

/*
 * Read the header of a file.  This is the only time that it is trusted.  ENOTRECOVERABLE: it is no
 * segment; ENOTSUP: of another version; or as the kernel says.
 */
int fs_segment_read(int fd, struct fs_segment *header);

#endif
