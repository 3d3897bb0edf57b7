/* SPDX-License-Identifier: MIT */
/*
 * sem_calls.h - sem_wait and the other functions, in terms of the public API.
 *
 * Two clients give these functions the POSIX names: sem_source.c, for programs that are
 * recompiled, and interpose.c, for programs that are not.
 *
 * Each returns 0 or an error number, which fs_sem_result() puts into errno.
 *
 * The fast paths are inline and use src/core/fast_path.h.  So a pair of calls takes at most one and
 * a half times as long as libc's; otherwise it would take twice as long.
 */
#ifndef FS_SEM_CALLS_H
#define FS_SEM_CALLS_H

#include "fast_path.h"

#include <errno.h>
#include <limits.h>

#ifndef SEM_VALUE_MAX
#define SEM_VALUE_MAX INT_MAX
#endif

/* Set errno to `error`, if it is not 0, and return 0 or -1. */
static inline int fs_sem_result(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/* bypass_ns: as in fairsem_attr_t; 0: nobody passes. */
int fs_sem_init(fairsem_t *sem, unsigned value, int64_t bypass_ns);
int fs_sem_destroy(fairsem_t *sem);
int fs_sem_trywait(fairsem_t *sem);
int fs_sem_getvalue(fairsem_t *sem, int *value);

/* The checks of sem_clockwait, which come before everything else.  Returns 0 or EINVAL. */
int fs_sem_check_deadline(clockid_t clock, const struct timespec *deadline);

/* Take a unit if that needs no wait.  A pending cancellation takes effect first. */
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

/* Wait.  The deadline is valid; NULL: none. */
int fs_sem_wait_slow(fairsem_t *sem, clockid_t clock, const struct timespec *deadline,
                     int priority);

#endif
