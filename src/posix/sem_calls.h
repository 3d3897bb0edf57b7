/* SPDX-License-Identifier: MIT */
/*
 * sem_calls.h - sem_wait and the other POSIX functions of semaphores, in terms of the public API.
 *
 * Two files give these functions their POSIX names: sem_source.c for programs that are recompiled, and
 * src/preload/interpose.c for programs that are not.  Unless its comment says otherwise, a function returns 0
 * or an error number.
 *
 * The fast paths are inline (src/core/fast_path.h): through the public API, a wait and a post would take twice
 * as long as with libc.
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

/* bypass_ns is as in fairsem_attr_t; 0 means strict order. */
int fs_sem_init(fairsem_t *sem, unsigned value, int64_t bypass_ns);
int fs_sem_destroy(fairsem_t *sem);
int fs_sem_trywait(fairsem_t *sem);
int fs_sem_getvalue(fairsem_t *sem, int *value);

/* Returns 0, or EINVAL if the clock or the deadline is invalid.  sem_clockwait calls this first. */
int fs_sem_check_deadline(clockid_t clock, const struct timespec *deadline);

/* Try to take a unit on the fast path.  Returns true if a unit was taken.  Cancellation point. */
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

/* Wait until the deadline, which must be valid, or without limit if `deadline` is NULL. */
int fs_sem_wait_slow(fairsem_t *sem, clockid_t clock, const struct timespec *deadline,
                     int priority);

#endif
