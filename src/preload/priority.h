/* SPDX-License-Identifier: MIT */
/* priority.h - the priority with which this thread waits. */
#ifndef FS_PRIORITY_H
#define FS_PRIORITY_H

/* The result of fs_real_time_priority(), without a system call in most processes; see priority.c. */
int fs_priority(void);

/* Before a sandbox can be entered. */
void fs_priority_prepare(void);

#endif
