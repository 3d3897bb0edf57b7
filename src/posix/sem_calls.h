/* SPDX-License-Identifier: MIT */
/*
 * sem_calls.h - sem_wait and the other functions, in terms of the public API.
 *
 * sem_source.c gives these functions the POSIX names for programs that are recompiled, interpose.c for
 * programs that are not.
 *
 * Each returns 0 or an error number, which fs_sem_result() puts into errno.
 *
 * The fast paths are inline (src/core/fast_path.h): through the public API a pair of calls would take twice
 * as long as libc's.
 */
#ifndef FS_SEM_CALLS_H
#define FS_SEM_CALLS_H

#include "fast_path.h"

#include <errno.h>
#include <limits.h>

#ifndef SEM_VALUE_MAX
#define SEM_VALUE_MAX INT_MAX
#endif

/* Returns 0 if `error` is 0; otherwise sets errno to `error` and returns -1. */
static inline int fs_sem_result(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/* bypass_ns is as in fairsem_attr_t, or 0 without FAIRSEM_BOUNDED_BYPASS. */
int fs_sem_init(fairsem_t *sem, unsigned value, int64_t bypass_ns);
int fs_sem_destroy(fairsem_t *sem);
int fs_sem_trywait(fairsem_t *sem);
int fs_sem_getvalue(fairsem_t *sem, int *value);

/* The checks of sem_clockwait, which come before everything else.  Returns 0 or EINVAL. */
int fs_sem_check_deadline(clockid_t clock, const struct timespec *deadline);

/* Take a unit without waiting, if possible.  A pending cancellation takes effect first. */
static inline bool fs_sem_wait_fast(fairsem_t *sem)
{
    pthread_testcancel();
    return fs_acquire_fast(fs_inside(sem), 1);
}

static inline int fs_sem_post(fairsem_t *sem)
{
    if (fs_give(fs_inside(sem), 1, false))
        return 0;
    return fairsem_release(sem, 1);
}

/* Wait until the deadline, or without limit if it is NULL.  The deadline must be valid. */
int fs_sem_wait_slow(fairsem_t *sem, clockid_t clock, const struct timespec *deadline,
                     int priority);

#endif
