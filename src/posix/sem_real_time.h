/* SPDX-License-Identifier: MIT */
/*
 * sem_real_time.h - real-time priorities, which libc's semaphores honor.  sem_real_time_linux.c is empty
 * except on Linux, sem_real_time_generic.c is empty on Linux.
 */
#ifndef FS_SEM_REAL_TIME_H
#define FS_SEM_REAL_TIME_H

#include <stdbool.h>

/*
 * Does this thread have a real-time priority?  Makes one system call.  A sandbox must allow this call in any
 * case, because waiters that yield make it, too (fs_cpu_is_time_shared()).
 */
bool fs_is_real_time(void);

/*
 * Returns the fairsem priority for a wait of this thread, so that threads under SCHED_FIFO or SCHED_RR come
 * first, in the order of their real-time priorities.  Returns 0 for all other threads.  Makes one system call.
 */
int fs_real_time_priority(void);

#endif
