/* SPDX-License-Identifier: MIT */
/*
 * units.c - guards, which know the units that they hold: a client of the public semaphore.
 *
 * There is no cancellation point between the end of an acquire and the filling of its guard, so the guard
 * is right even if the thread is canceled.
 */
#include "tools/cleanup.h"            /* before <pthread.h> */
#include "tools/compiler.h"
#include "fairsem.h"
#include "word.h"

#include <errno.h>

static const fairsem_units_t empty;

int fairsem_units_acquire(fairsem_units_t *units, fairsem_t *sem, int64_t n,
                          const fairsem_wait_t *how)
{
    int error;

    if (units->n != 0)
        return EBUSY;
    error = fairsem_acquire_with(sem, n, how);
    if (error == 0)
        *units = (fairsem_units_t){ sem, n };
    return error;
}

int fairsem_units_tryacquire(fairsem_units_t *units, fairsem_t *sem, int64_t n)
{
    int error;

    if (units->n != 0)
        return EBUSY;
    error = fairsem_tryacquire(sem, n);
    if (error == 0)
        *units = (fairsem_units_t){ sem, n };
    return error;
}

int fairsem_units_adopt(fairsem_units_t *units, fairsem_t *sem, int64_t n)
{
    if (units->n != 0)
        return EBUSY;
    if (!fs_count_valid(n))
        return EINVAL;
    *units = (fairsem_units_t){ sem, n };
    return 0;
}

int fairsem_units_release(fairsem_units_t *units)
{
    return fairsem_units_return(units, units->n);
}

/* The guard changes before the release: the release may run a callback that uses the guard, or throws. */
int fairsem_units_return(fairsem_units_t *units, int64_t n)
{
    const fairsem_units_t before = *units;
    int error;

    if (n < 0 || n > before.n)
        return EINVAL;
    *units = n < before.n ? (fairsem_units_t){ before.sem, before.n - n } : empty;
    error = n != 0 ? fairsem_release(before.sem, n) : 0;
    if (error != 0)
        *units = before;
    return error;
}

int fairsem_units_split(fairsem_units_t *from, int64_t n, fairsem_units_t *into)
{
    if (from == into || n < 0 || n > from->n)
        return EINVAL;
    if (into->n != 0)
        return EBUSY;
    *into = n != 0 ? (fairsem_units_t){ from->sem, n } : empty;
    from->n -= n;
    if (from->n == 0)
        *from = empty;
    return 0;
}

int fairsem_units_merge(fairsem_units_t *into, fairsem_units_t *from)
{
    if (into == from)
        return EINVAL;
    if (from->n == 0)
        return 0;
    if (into->n != 0 && into->sem != from->sem)
        return EINVAL;
    if (from->n > FAIRSEM_MAX_UNITS - into->n)
        return EINVAL;
    *into = (fairsem_units_t){ from->sem, into->n + from->n };
    *from = empty;
    return 0;
}

int64_t fairsem_units_forget(fairsem_units_t *units)
{
    int64_t n = units->n;

    *units = empty;
    return n;
}

FS_REALIGN_STACK static void release_units(void *units)
{
    (void)fairsem_units_release(units);
}

/*
 * The clean-up handler runs if fn exits the thread or is canceled.  With glibc it also runs if fn throws,
 * because this library is compiled with -fexceptions, except on two machines that cleanup.h names.
 */
int fairsem_with(fairsem_t *sem, int64_t n, void (*fn)(void *), void *arg)
{
    fairsem_units_t units = empty;
    int error = fairsem_units_acquire(&units, sem, n, NULL);

    if (error != 0)
        return error;
    pthread_cleanup_push(release_units, &units);
    fn(arg);
    pthread_cleanup_pop(0);
    return fairsem_units_release(&units);
}
