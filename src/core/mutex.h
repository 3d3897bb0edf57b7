/* SPDX-License-Identifier: MIT */
/* mutex.h - a mutex of the library that is initialized by a call; see mutex.c. */
#ifndef FS_MUTEX_H
#define FS_MUTEX_H

#include <pthread.h>

/*
 * Initialize a mutex that is free, also one that a static initializer has initialized.  It inherits
 * priority if that can matter in this process.  No errors; keeps errno.
 */
void fs_mutex_init(pthread_mutex_t *mutex);

#endif
