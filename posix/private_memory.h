/* SPDX-License-Identifier: MIT */
/* private_memory.h - does another process see what is written here? */
#ifndef FS_PRIVATE_MEMORY_H
#define FS_PRIVATE_MEMORY_H

#include <stdbool.h>

/* Memory that has been written to.  True if that cannot be found out. */
bool fs_memory_is_private(const void *memory);

#endif
