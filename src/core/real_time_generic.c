/* SPDX-License-Identifier: MIT */
/* real_time_generic.c - POSIX has no question for it; see real_time.h. */
#if !defined(__linux__)

#include "real_time.h"

bool fs_may_be_real_time(void)
{
    return true;
}

#else
typedef int translation_unit_not_empty;
#endif
