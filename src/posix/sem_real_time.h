/* SPDX-License-Identifier: MIT */
/*
 * sem_real_time.h - real-time priorities, which a semaphore of libc honors.  sem_real_time_linux.c
 * is for Linux, sem_real_time_generic.c for all other systems; the one that does not apply is
 * empty.
 */
#ifndef FS_SEM_REAL_TIME_H
#define FS_SEM_REAL_TIME_H

#include <stdbool.h>

/*
 * Has this thread one?  One system call, and one that a sandbox has to allow anyway: waiters that
 * yield make it, too.
 */
bool fs_is_real_time(void);

/*
 * The priority of a wait: a thread under SCHED_FIFO or SCHED_RR comes before others, the one with
 * the highest real-time priority first.  All others have 0.  One system call.
 */
int fs_real_time_priority(void);

#endif
