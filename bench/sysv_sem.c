/* SPDX-License-Identifier: MIT */
/* sysv_sem.c - a System V semaphore: every call goes into the kernel. */
#undef _POSIX_C_SOURCE
#define _XOPEN_SOURCE 700 /* it is in the XSI option of POSIX */

#include "peers.h"

#include <errno.h>
#include <sys/ipc.h>
#include <sys/sem.h>

/*
 * The last argument of semctl().  POSIX leaves the definition to the caller; this name does not
 * clash with a system's own.  semctl() reads all of it: with `val` alone a big-endian machine of 64
 * bits finds 0 in it.
 */
union semctl_argument {
    int val;
    struct semid_ds *buf;
    unsigned short *array;
};

int sysv_peer_init(void *sem, int64_t units)
{
    int *id = sem;

    *id = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    if (*id < 0)
        return errno;
    return semctl(*id, 0, SETVAL, (union semctl_argument){ .val = (int)units }) == 0 ? 0 : errno;
}

static int change(const int *id, int64_t by, short flags)
{
    struct sembuf op = { .sem_num = 0, .sem_op = (short)by, .sem_flg = flags };

    RETURN_IF_DONE(semop(*id, &op, 1));
}

int sysv_peer_acquire(void *sem, int64_t n)
{
    return change(sem, -n, 0);
}

int sysv_peer_release(void *sem, int64_t n)
{
    return change(sem, n, 0);
}

int sysv_peer_try(void *sem, int64_t n)
{
    return change(sem, -n, IPC_NOWAIT);
}

int sysv_peer_destroy(void *sem)
{
    const int *id = sem;

    return semctl(*id, 0, IPC_RMID) == 0 ? 0 : errno;
}
