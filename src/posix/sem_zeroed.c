/* SPDX-License-Identifier: MIT */
/* sem_zeroed.c - see sem_zeroed.h. */
#include "sem_zeroed.h"

#include "sem_calls.h"

#include <string.h>

/*
 * Initialize a semaphore of zeros.  Other threads may be on the fast path, which loads the word and the
 * limit.  The limit is stored last, in release order.  Until that store, other threads change nothing, and load
 * only the word and the limit.  A child that is forked before that store initializes the semaphore again.
 *
 * The mutex is a copy of a new one.  POSIX does not promise that a copy works, but in the C libraries of Linux
 * it does.  Race detectors would report a pthread_mutex_init() of the semaphore's own mutex as a race: they do
 * not see that the limit orders the initialization before the other threads' locks.
 *
 * The lock of fork.c needs no priority inheritance, because it is held for a microsecond, once for each
 * semaphore.
 */
static void initialize(void *object)
{
    fairsem_t *sem = object, model;

    if (!fs_sem_is_zeroed(sem))
        return;
    if (fs_sem_init(&model, 0, 0) != 0)
        return;         /* cannot happen on Linux; on other systems, the next section ends the program */
    sem->fairsem_mutex_ = model.fairsem_mutex_;
    memcpy(sem->fairsem_reserved_, model.fairsem_reserved_, sizeof model.fairsem_reserved_);
    sem->fairsem_units_ = model.fairsem_units_;
    atomic_store_explicit(&fs_inside(sem)->word, fs_inside(&model)->word, memory_order_relaxed);
    atomic_store_explicit(&fs_inside(sem)->limit, fs_inside(&model)->limit, memory_order_release);
    pthread_mutex_destroy(&model.fairsem_mutex_);
}

void fs_sem_initialize_zeroed(fairsem_t *sem)
{
    fs_fork_exclude(initialize, sem);
}
