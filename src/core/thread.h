/* SPDX-License-Identifier: MIT */
/*
 * thread.h - what the system calls a thread, for people who look at a semaphore.  thread_linux.c is
 * for Linux, thread_generic.c for all other systems; the one that does not apply is empty.
 */
#ifndef FS_THREAD_H
#define FS_THREAD_H

#define FS_THREAD_NAME 16       /* bytes, with the end: the most that Linux keeps */

/* The kernel's number of this thread, as ps -L and debuggers show it; 0: the system has none. */
int fs_thread_id(void);

/* The name of that thread, which may have ended meanwhile; "" if it has none. */
void fs_thread_name(int id, char name[FS_THREAD_NAME]);

#endif
