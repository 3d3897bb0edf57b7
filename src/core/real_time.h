/* SPDX-License-Identifier: MIT */
/*
 * real_time.h - real-time priorities, which few programs may use.  real_time_linux.c is for Linux,
 * real_time_generic.c for all other systems; the one that does not apply is empty.
 */
#ifndef FS_REAL_TIME_H
#define FS_REAL_TIME_H

#include <stdbool.h>

/*
 * May a thread of this process have one?  At most two system calls; none if the answer was no
 * before.
 */
bool fs_may_be_real_time(void);

#endif
