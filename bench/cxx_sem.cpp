// SPDX-License-Identifier: MIT
// cxx_sem.cpp - C++20's std::counting_semaphore, for C.
#include "sem_ops.h"

#include <cerrno>
#include <chrono>
#include <new>
#include <semaphore>

using semaphore = std::counting_semaphore<>;
static_assert(sizeof(semaphore) <= CXX_SEM_SIZE);

extern "C" {
SEM_CALLS(cxx);
}

static semaphore &at(void *sem)
{
    return *static_cast<semaphore *>(sem);
}

int cxx_peer_init(void *sem, int64_t units)
{
    new (sem) semaphore(static_cast<std::ptrdiff_t>(units));
    return 0;
}

// acquire() of libstdc++ can sleep for ever although a unit is free (GCC bug 98033): release()
// wakes no thread if the count was above 0, even if an acquire that lost a race for that very
// unit is about to sleep.  So this one sleeps for 10 ms at most and tries again.
int cxx_peer_acquire(void *sem, int64_t)
{
    if (at(sem).try_acquire())
        return 0;
    while (!at(sem).try_acquire_for(std::chrono::milliseconds(10)))
        continue;
    return 0;
}

int cxx_peer_release(void *sem, int64_t)
{
    at(sem).release();
    return 0;
}

int cxx_peer_try(void *sem, int64_t)
{
    return at(sem).try_acquire() ? 0 : EAGAIN;
}

int cxx_peer_destroy(void *sem)
{
    at(sem).~semaphore();
    return 0;
}
