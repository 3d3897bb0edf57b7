// SPDX-License-Identifier: MIT
// cxx_sem.cpp - C++20's std::counting_semaphore, for C.
#include "cxx_sem.h"

#include <cerrno>
#include <new>
#include <semaphore>

using semaphore = std::counting_semaphore<>;
static_assert(sizeof(semaphore) <= CXX_SEM_SIZE);

static semaphore &at(void *sem)
{
    return *static_cast<semaphore *>(sem);
}

int cxx_sem_init(void *sem, int64_t units)
{
    new (sem) semaphore(static_cast<std::ptrdiff_t>(units));
    return 0;
}

int cxx_sem_acquire(void *sem, int64_t)
{
    at(sem).acquire();
    return 0;
}

int cxx_sem_release(void *sem, int64_t)
{
    at(sem).release();
    return 0;
}

int cxx_sem_try(void *sem, int64_t)
{
    return at(sem).try_acquire() ? 0 : EAGAIN;
}

int cxx_sem_destroy(void *sem)
{
    at(sem).~semaphore();
    return 0;
}
