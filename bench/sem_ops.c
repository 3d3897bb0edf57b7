/* SPDX-License-Identifier: MIT */
/* sem_ops.c - make and destroy a semaphore through its table. */
#define _POSIX_C_SOURCE 200809L

#include "sem_ops.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 128 }; /* bytes of two cache lines: some processors fetch them in pairs */

void *sem_new(const struct sem_ops *ops, int64_t units)
{
    size_t size = (ops->size + LINE - 1) / LINE * LINE;
    void *sem;

    if (posix_memalign(&sem, LINE, size) != 0)
        return NULL;
    memset(sem, 0, size);
    if (ops->init(sem, units) != 0) {
        free(sem);
        return NULL;
    }
    return sem;
}

void sem_delete(const struct sem_ops *ops, void *sem)
{
    if (sem)
        ops->destroy(sem);
    free(sem);
}
