/* SPDX-License-Identifier: MIT */
/* private_memory.h - is this memory private, or can another process see it? */
#ifndef FS_PRIVATE_MEMORY_H
#define FS_PRIVATE_MEMORY_H

#include <stdbool.h>

/* Returns false if it cannot find out. */
bool fs_memory_is_private(const void *memory);

#endif
