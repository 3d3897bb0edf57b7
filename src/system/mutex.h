/* SPDX-License-Identifier: MIT */
/* mutex.h - the mutexes of the library; see mutex.c. */
#ifndef FS_MUTEX_H
#define FS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

/*
 * Initialize a mutex that is free.  A static initializer may have initialized it before.  The mutex
 * inherits priority if that can matter in this process.  Cannot fail; keeps errno.
 */
void fs_mutex_init(pthread_mutex_t *mutex);

/*
 * Does this thread have a real-time priority, which the holder of a mutex would inherit?  If so, note that
 * the process has such threads.
 */
bool fs_mutex_lends_priority(void);

/* Lock a mutex that was not free a moment ago. */
void fs_mutex_lock_contended(pthread_mutex_t *mutex);

static inline void fs_mutex_lock(pthread_mutex_t *mutex)
{
    if (pthread_mutex_trylock(mutex) != 0)
        fs_mutex_lock_contended(mutex);
}

#endif
