/* SPDX-License-Identifier: MIT */
/* sysv_sem.h - a System V semaphore: every call goes into the kernel. */
#ifndef BENCH_SYSV_SEM_H
#define BENCH_SYSV_SEM_H

#include <stdint.h>

/*
 * The last argument of semctl().  POSIX leaves the definition to the caller; this name does not
 * clash with a system's own.  semctl() reads all of it: with `val` alone a big-endian machine of 64
 * bits finds 0 in it.
 */
struct semid_ds;
union semctl_argument {
    int val;
    struct semid_ds *buf;
    unsigned short *array;
};

struct sysv_sem {
    int id;
};

/* All return 0 or an errno value; the types are those of struct sem_ops. */
int sysv_init(void *sem, int64_t units);
int sysv_acquire(void *sem, int64_t n);
int sysv_release(void *sem, int64_t n);
int sysv_try(void *sem, int64_t n);
int sysv_destroy(void *sem);

#endif /* BENCH_SYSV_SEM_H */
