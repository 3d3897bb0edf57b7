/* SPDX-License-Identifier: MIT */
/* peers.c - other semaphores; compiled as the library is, so each access takes simulated time. */
#include "peers.h"

#include <linux/futex.h>
#include <limits.h>
#include <stdatomic.h>

static void futex_wait(_Atomic unsigned *word, unsigned value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value);
}

static void futex_wake(_Atomic unsigned *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count);
}

/* ---- glibc's sem_t ---- */

/* The units in the lower half, the waiters in the upper one. */
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
    /* The kernel looks at the lower half, which comes first. */
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

/* A slot counts its notifications, in steps of two; the last bit: somebody may sleep on it. */
enum { SLOTS = 1024, ASLEEP = 1, NOTIFIED = 2 };

static _Alignas(64) _Atomic uint64_t next_ticket;
static _Alignas(64) _Atomic uint64_t granted;  /* tickets below it have their units */
static struct {
    _Alignas(64) _Atomic unsigned word;
} slots[SLOTS];
static int64_t patience;

static _Atomic unsigned *slot_of(uint64_t ticket)
{
    return &slots[ticket % SLOTS].word;
}

static int64_t now_ns(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

void array_init(int units, int64_t patience_ns)
{
    granted = (uint64_t)units;
    patience = patience_ns;
}

/*
 * Only the next waiter looks at `granted`, so a post moves that line to one core; all others look at their
 * slots.  The next waiter pauses, others yield.  Returns true if there is news.
 */
static bool stay_awake(uint64_t ticket, uint64_t seen_granted, unsigned seen_slot)
{
    bool is_next = ticket == seen_granted;

    for (int64_t end = now_ns() + patience; now_ns() < end;) {
        if (is_next ? atomic_load(&granted) != seen_granted : atomic_load(slot_of(ticket)) != seen_slot)
            return true;
        if (is_next)
            __builtin_ia32_pause();
        else
            sched_yield();
    }
    return false;
}

void array_wait(void)
{
    uint64_t ticket = atomic_fetch_add(&next_ticket, 1);
    _Atomic unsigned *slot = slot_of(ticket);

    for (;;) {
        unsigned seen = atomic_load(slot);
        uint64_t seen_granted = atomic_load(&granted);

        if (ticket < seen_granted)
            return;
        if (stay_awake(ticket, seen_granted, seen))
            continue;
        /* A post adds to `granted` before it looks at the slot, a waiter does it the other way round. */
        if ((seen & ASLEEP) == 0 && !atomic_compare_exchange_strong(slot, &seen, seen | ASLEEP))
            continue;
        if (atomic_load(&granted) == seen_granted)
            futex_wait(slot, seen | ASLEEP);
    }
}

/* Always: the waiter must learn that it is next; else only if it sleeps. */
static void notify(_Atomic unsigned *slot, bool always)
{
    unsigned seen = atomic_load(slot);

    do {
        if (!always && (seen & ASLEEP) == 0)
            return;
    } while (!atomic_compare_exchange_weak(slot, &seen, (seen & ~(unsigned)ASLEEP) + NOTIFIED));
    if ((seen & ASLEEP) != 0)
        futex_wake(slot, INT_MAX);
}

void array_post(void)
{
    uint64_t ticket = atomic_fetch_add(&granted, 1);

    notify(slot_of(ticket), false);
    notify(slot_of(ticket + 1), true);
}
