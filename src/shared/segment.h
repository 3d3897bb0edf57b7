/* SPDX-License-Identifier: MIT */
/* segment.h - initializing a segment, and checking that a file is one. */
#ifndef FS_SHARED_SEGMENT_H
#define FS_SHARED_SEGMENT_H

#include "shared/layout.h"

bool    fs_segment_attr_valid(const fairsem_shared_attr_t *attr);
int64_t fs_segment_size_for(const fairsem_shared_attr_t *attr);

/*
 * Initialize a segment in a new file, which has the right size and is all zero.  Copies the header to
 * *header.
 */
int fs_segment_write(int fd, const fairsem_shared_attr_t *attr, struct fs_segment *header);

/*
 * Read and check the header of a file; the header is not read again later.  Returns 0, ENOTRECOVERABLE if
 * the file is not a segment, ENOTSUP if the segment has another version, or an error of the kernel.
 */
int fs_segment_read(int fd, struct fs_segment *header);

#endif
