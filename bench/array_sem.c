/* SPDX-License-Identifier: MIT */
/* array_sem.c - the ticket semaphore with a waiting array as a peer; see array_sem.h. */
#define _DEFAULT_SOURCE /* syscall */

#ifdef HAVE_CONFIG_H
#include <config.h>
#elif defined(__linux__)
#define HAVE_LINUX_FUTEX_H 1
#endif

#include "peers.h"

#ifdef HAVE_LINUX_FUTEX_H

#include "array_sem.h"

/* How long a waiter stays awake.  On two cores, tens to hundreds of microseconds are about equally good. */
#define PATIENCE_NS (50 * NS_PER_US)

static int array_peer_init(void *sem, int64_t units)
{
    array_sem_init(sem, units, PATIENCE_NS);
    return 0;
}

static int array_peer_acquire(void *sem)
{
    array_sem_wait(sem);
    return 0;
}

static int array_peer_release(void *sem)
{
    array_sem_post(sem);
    return 0;
}

static int array_peer_destroy(void *sem)
{
    (void)sem;
    return 0;
}

SEM_OPS(array, "ticket array", sizeof(struct array_sem), .try_acquire = NULL);

const struct sem_ops *array_sem_ops(void)
{
    return &ops_array;
}

#else /* no futexes */

const struct sem_ops *array_sem_ops(void)
{
    return NULL;
}

#endif
