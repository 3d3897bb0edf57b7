/* SPDX-License-Identifier: MIT */
/*
 * sem_calls.h - what sem_wait and its like mean, in terms of the public API.
 *
 * Two clients give these the POSIX names: sem_source.c, for programs that are recompiled,
 * and interpose.c, for those that are not.  This is the one place that sets errno.
 *
 * All return 0, or -1 with errno set.  The fast paths are inline and look inside: a pair of
 * calls costs no more than one and a half times libc's that way, and twice as much without.
 */
#ifndef FS_SEM_CALLS_H
#define FS_SEM_CALLS_H

#include "fast_path.h"

#include <limits.h>

#ifndef SEM_VALUE_MAX
#define SEM_VALUE_MAX INT_MAX
#endif

/* errno = error, if there is one. */
int fs_sem_result(int error);

int fs_sem_init(fairsem_t *sem, unsigned value);
int fs_sem_destroy(fairsem_t *sem);
int fs_sem_trywait(fairsem_t *sem);
int fs_sem_getvalue(fairsem_t *sem, int *value);

/* The checks of sem_clockwait, which come before everything else: 0 or EINVAL. */
int fs_sem_check_deadline(clockid_t clock, const struct timespec *deadline);

/* Take a unit if that needs no waiting.  A pending cancellation is acted on before. */
static inline bool fs_sem_wait_fast(fairsem_t *sem)
{
    pthread_testcancel();
    return fs_take_fast(fs_inside(sem), 1);
}

static inline int fs_sem_post(fairsem_t *sem)
{
    if (fs_give_fast(fs_inside(sem), 1))
        return 0;
    return fs_sem_result(fairsem_release(sem, 1));
}

/* Wait; the deadline, NULL: none, has been checked. */
int fs_sem_wait_slow(fairsem_t *sem, clockid_t clock, const struct timespec *deadline);

#endif
