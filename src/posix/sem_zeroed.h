/* SPDX-License-Identifier: MIT */
/*
 * sem_zeroed.h - a sem_t of fairsem/posix.h that is all zero has the value 0, as in libc.
 *
 * Programs rely on that.  The first call that would change the semaphore initializes it.  The fast paths
 * need no check: while the limit is 0, none of them succeeds.
 */
#ifndef FS_SEM_ZEROED_H
#define FS_SEM_ZEROED_H

#include "fast_path.h"

/* Initialize the semaphore, unless another thread has done so.  Async-signal-safe. */
void fs_sem_initialize_zeroed(fairsem_t *sem);

/*
 * The limit of an initialized semaphore is SEM_VALUE_MAX, also after sem_destroy.  Acquire order: a thread
 * that sees the limit must see all that was written before it.
 */
static inline bool fs_sem_is_zeroed(const fairsem_t *sem)
{
    return atomic_load_explicit(&fs_inside(sem)->limit, memory_order_acquire) == 0;
}

/* Returns sem, initialized.  Call it after the fast path has failed, before a function of the public API. */
static inline fairsem_t *fs_sem_initialized(fairsem_t *sem)
{
    if (fs_sem_is_zeroed(sem))
        fs_sem_initialize_zeroed(sem);
    return sem;
}

#endif
