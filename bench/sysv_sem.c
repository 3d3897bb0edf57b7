/* SPDX-License-Identifier: MIT */
/* sysv_sem.c - a System V semaphore: every call goes into the kernel. */
#undef _POSIX_C_SOURCE
#define _XOPEN_SOURCE 700 /* it is in the XSI option of POSIX */

#include "sysv_sem.h"

#include <errno.h>
#include <sys/ipc.h>
#include <sys/sem.h>

int sysv_init(void *sem, int64_t units)
{
    struct sysv_sem *s = sem;

    s->id = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    if (s->id < 0)
        return errno;
    return semctl(s->id, 0, SETVAL, (union semctl_argument){ .val = (int)units }) == 0 ? 0 : errno;
}

static int change(const struct sysv_sem *s, int64_t by, short flags)
{
    struct sembuf op = { .sem_num = 0, .sem_op = (short)by, .sem_flg = flags };

    while (semop(s->id, &op, 1) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

int sysv_acquire(void *sem, int64_t n)
{
    return change(sem, -n, 0);
}

int sysv_release(void *sem, int64_t n)
{
    return change(sem, n, 0);
}

int sysv_try(void *sem, int64_t n)
{
    return change(sem, -n, IPC_NOWAIT);
}

int sysv_destroy(void *sem)
{
    const struct sysv_sem *s = sem;

    return semctl(s->id, 0, IPC_RMID) == 0 ? 0 : errno;
}
