/* SPDX-License-Identifier: MIT */
/* sysv_argument.h - the last argument of semctl(). */
#ifndef BENCH_SYSV_ARGUMENT_H
#define BENCH_SYSV_ARGUMENT_H

struct semid_ds;

/*
 * POSIX leaves the definition to the caller; this name does not clash with a system's own.
 * semctl() reads all of it: with `val` alone a big-endian machine of 64 bits finds 0 in it.
 */
union semctl_argument {
    int val;
    struct semid_ds *buf;
    unsigned short *array;
};

#endif /* BENCH_SYSV_ARGUMENT_H */
