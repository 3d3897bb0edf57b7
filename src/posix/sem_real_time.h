/* SPDX-License-Identifier: MIT */
/*
 * sem_real_time.h - real-time priorities, which a semaphore of libc honors.  sem_real_time_linux.c is empty
 * except on Linux, sem_real_time_generic.c is empty on Linux.
 */
#ifndef FS_SEM_REAL_TIME_H
#define FS_SEM_REAL_TIME_H

#include <stdbool.h>

/*
 * Does this thread have a real-time priority?  Makes one system call.  A sandbox must allow it in any
 * case, because waiters that yield make it, too.
 */
bool fs_is_real_time(void);

/*
 * Returns the priority for a wait: threads under SCHED_FIFO or SCHED_RR come first, in the order of their
 * real-time priorities; for all others it is 0.  Makes one system call.
 */
int fs_real_time_priority(void);

#endif
