/* SPDX-License-Identifier: MIT */
/*
 * sem_real_time_generic.c - all threads wait with the same priority, because no function of POSIX returns the
 * caller's priority without a lock; see sem_real_time.h.
 */
#if !defined(__linux__)

#include "sem_real_time.h"

bool fs_is_real_time(void)
{
    return false;
}

int fs_real_time_priority(void)
{
    return 0;
}

#else
typedef int translation_unit_not_empty;
#endif
