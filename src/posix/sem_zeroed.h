/* SPDX-License-Identifier: MIT */
/*
 * sem_zeroed.h - a sem_t of fairsem/posix.h that is all zero has the value 0, as in libc.
 *
 * Programs rely on that value.  The first call that may change the semaphore initializes it.  The fast
 * paths need no check: in zeros no unit is free, and no unit can be released, as the limit is 0.
 */
#ifndef FS_SEM_ZEROED_H
#define FS_SEM_ZEROED_H

#include "fast_path.h"

/* Initialize the semaphore if no other thread has done so.  Async-signal-safe. */
void fs_sem_initialize_zeroed(fairsem_t *sem);

/*
 * Is the limit still 0?  The limit of an initialized semaphore is SEM_VALUE_MAX, even after sem_destroy.
 * Acquire order: a thread that sees the limit must see all earlier stores of the initialization.
 */
static inline bool fs_sem_is_zeroed(const fairsem_t *sem)
{
    return atomic_load_explicit(&fs_inside(sem)->limit, memory_order_acquire) == 0;
}

/* Returns `sem`, initialized.  Call this after a failed fast path, before a function of the public API. */
static inline fairsem_t *fs_sem_initialized(fairsem_t *sem)
{
    if (fs_sem_is_zeroed(sem))
        fs_sem_initialize_zeroed(sem);
    return sem;
}

#endif
