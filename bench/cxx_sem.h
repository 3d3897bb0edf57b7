/* SPDX-License-Identifier: MIT */
/* cxx_sem.h - C++20's std::counting_semaphore, for C. */
#ifndef BENCH_CXX_SEM_H
#define BENCH_CXX_SEM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CXX_SEM_SIZE = 64 }; /* at least the size of the object, in bytes */

/* All return 0 or an errno value; the types are those of struct sem_ops, n is 1. */
int cxx_sem_init(void *sem, int64_t units);
int cxx_sem_acquire(void *sem, int64_t n);
int cxx_sem_release(void *sem, int64_t n);
int cxx_sem_try(void *sem, int64_t n);
int cxx_sem_destroy(void *sem);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_CXX_SEM_H */
