/* SPDX-License-Identifier: MIT */
/* sem_calls.c - see sem_calls.h. */
#include "sem_calls.h"

#include <errno.h>

/* The capacity makes a release beyond SEM_VALUE_MAX fail with EOVERFLOW. */
int fs_sem_init(fairsem_t *sem, unsigned value, int64_t bypass_ns)
{
    const fairsem_attr_t attr = {
        .capacity = SEM_VALUE_MAX,
        .flags = FAIRSEM_INTERRUPTIBLE | (bypass_ns != 0 ? FAIRSEM_BOUNDED_BYPASS : 0),
        .bypass_ns = bypass_ns,
    };
    int error;

    if (value > SEM_VALUE_MAX)
        return EINVAL;
    error = fairsem_init(sem, value, &attr);
    return error == ENOTSUP ? ENOSYS : error;
}

int fs_sem_destroy(fairsem_t *sem)
{
    return fairsem_destroy(sem);
}

int fs_sem_trywait(fairsem_t *sem)
{
    if (fs_acquire_fast(fs_inside(sem), 1))
        return 0;
    if (fs_too_few_now(fs_inside(sem), 1))
        return EAGAIN;
    return fairsem_tryacquire(sem, 1);
}

int fs_sem_getvalue(fairsem_t *sem, int *value)
{
    *value = (int)fairsem_available(sem);
    return 0;
}

/* The same checks as in fairsem_acquire_with(). */
int fs_sem_check_deadline(clockid_t clock, const struct timespec *deadline)
{
    return fs_clock_valid(clock) && fs_timespec_valid(deadline) ? 0 : EINVAL;
}

int fs_sem_wait_slow(fairsem_t *sem, clockid_t clock, const struct timespec *deadline,
                     int priority)
{
    const fairsem_wait_t how = { .clock = clock, .deadline = deadline, .priority = priority };

    return fairsem_acquire_with(sem, 1, &how);
}
