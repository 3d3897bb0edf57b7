/* SPDX-License-Identifier: MIT */
/* thread_generic.c - where threads have no numbers that POSIX knows of; see thread.h. */
#if !defined(__linux__)

#include "thread.h"

int fs_thread_id(void)
{
    return 0;
}

void fs_thread_name(int id, char name[FS_THREAD_NAME])
{
    (void)id;
    name[0] = '\0';
}

#else
typedef int translation_unit_not_empty;
#endif
