/* SPDX-License-Identifier: MIT */
/* priority.h - the priority with which this thread waits. */
#ifndef FS_PRIORITY_H
#define FS_PRIORITY_H

/*
 * As fs_real_time_priority().  But in a process where no real-time priority is expected, most calls return 0
 * without a system call: see priority.c.
 */
int fs_priority(void);

/* Call it before the program can enter a sandbox. */
void fs_priority_prepare(void);

#endif
