/* SPDX-License-Identifier: MIT */
/* priority.h - the priority with which this thread waits, without a system call each time. */
#ifndef FS_PRIORITY_H
#define FS_PRIORITY_H

/* The result of fs_real_time_priority(), which is called only now and then; see priority.c. */
int fs_priority(void);

/* Find libc's functions. */
void fs_priority_prepare(void);

/* In the child, after a fork: it may have lost a real-time priority (SCHED_RESET_ON_FORK). */
void fs_priority_in_child(void);

#endif
