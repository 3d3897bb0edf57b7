/* SPDX-License-Identifier: MIT */
/* peers.c - other semaphores, compiled like the library: each of their accesses takes simulated time. */
#include "peers.h"

#include "../../../bench/array_sem.h"

static void futex_wait(_Atomic unsigned *word, unsigned value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value);
}

static void futex_wake(_Atomic unsigned *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count);
}

/* ---- glibc's sem_t ---- */

/* posix_data: the lower half is the number of units, the upper half the number of waiters. */
#define ONE_WAITER (UINT64_C(1) << 32)

static _Alignas(64) _Atomic uint64_t posix_data;

static unsigned units_of(uint64_t data)
{
    return (unsigned)data;
}

void posix_init(int units)
{
    posix_data = (uint64_t)units;
}

static void posix_wait_slow(void)
{
    /* The futex word is the lower half of posix_data, which comes first in memory. */
    _Atomic unsigned *units = (_Atomic unsigned *)&posix_data;
    uint64_t data = atomic_fetch_add_explicit(&posix_data, ONE_WAITER, memory_order_relaxed) + ONE_WAITER;

    for (;;) {
        if (units_of(data) == 0) {
            futex_wait(units, 0);
            data = atomic_load_explicit(&posix_data, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(&posix_data, &data, data - 1 - ONE_WAITER,
                                                         memory_order_acquire, memory_order_relaxed)) {
            return;
        }
    }
}

void posix_wait(void)
{
    uint64_t data = atomic_load_explicit(&posix_data, memory_order_relaxed);

    if (units_of(data) == 0
        || !atomic_compare_exchange_weak_explicit(&posix_data, &data, data - 1, memory_order_acquire,
                                                  memory_order_relaxed))
        posix_wait_slow();
}

void posix_post(void)
{
    uint64_t data = atomic_load_explicit(&posix_data, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(&posix_data, &data, data + 1, memory_order_release,
                                                  memory_order_relaxed))
        continue;
    if (data >= ONE_WAITER)
        futex_wake((_Atomic unsigned *)&posix_data, 1);
}

/* ---- The ticket semaphore with a waiting array ---- */

static struct array_sem array;

void array_init(int units, int64_t patience_ns)
{
    array_sem_init(&array, units, patience_ns);
}

void array_wait(void)
{
    array_sem_wait(&array);
}

void array_post(void)
{
    array_sem_post(&array);
}
