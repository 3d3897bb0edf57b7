/* SPDX-License-Identifier: MIT */
/* mutex.h - the mutexes of the library; see mutex.c. */
#ifndef FS_MUTEX_H
#define FS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

/*
 * Initialize a mutex that no thread holds or waits for.  The mutex may already have a static initializer.
 * The mutex inherits priority if this process can have real-time priorities.  Cannot fail; keeps errno.
 */
void fs_mutex_init(pthread_mutex_t *mutex);

/*
 * Returns true if this thread has a real-time priority that the holder of a mutex would inherit.  If the
 * result is true, the function also records, for fs_mutex_lock_contended(), that a real-time thread exists.
 */
bool fs_mutex_lends_priority(void);

/* The slow path of fs_mutex_lock(). */
void fs_mutex_lock_contended(pthread_mutex_t *mutex);

static inline void fs_mutex_lock(pthread_mutex_t *mutex)
{
    if (pthread_mutex_trylock(mutex) != 0)
        fs_mutex_lock_contended(mutex);
}

#endif
