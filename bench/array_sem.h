/* SPDX-License-Identifier: MIT */
/*
 * array_sem.h - a ticket semaphore with a waiting array, for Linux: first come, first served, without
 * priorities, weights or time-outs.
 *
 * Written from its published description ("Semaphores Augmented with a Waiting Array", Dice and Kogan, 2025).
 * A waiter is awake for some time, then sleeps.  tests/search/cores/ compiles this file for simulated cores.
 */
#ifndef BENCH_ARRAY_SEM_H
#define BENCH_ARRAY_SEM_H

#include "clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A slot counts its notifications in steps of two.  Its last bit means that a thread may sleep on the slot. */
enum { ARRAY_SLOTS = 1024, ARRAY_ASLEEP = 1, ARRAY_NOTIFIED = 2 };

/* For at most ARRAY_SLOTS threads. */
struct array_sem {
    _Alignas(64) _Atomic uint64_t next_ticket;
    _Alignas(64) _Atomic uint64_t granted;      /* tickets below this number have their units */
    _Alignas(64) int64_t patience_ns;
    struct {
        _Alignas(64) _Atomic unsigned word;
    } slots[ARRAY_SLOTS];
};

/* *s must be all zero. */
static inline void array_sem_init(struct array_sem *s, int64_t units, int64_t patience_ns)
{
    atomic_init(&s->granted, (uint64_t)units);
    s->patience_ns = patience_ns;
}

static inline _Atomic unsigned *array_sem_slot(struct array_sem *s, uint64_t ticket)
{
    return &s->slots[ticket % ARRAY_SLOTS].word;
}

static inline void array_sem_pause(void)
{
#if defined(__i386__) || defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/*
 * Only the next waiter looks at `granted`, so a post moves the cache line of `granted` to one core only.  All
 * other waiters look at their slots.  The next waiter pauses between two looks; the others yield.  Returns true
 * if the word that this waiter looks at has changed.
 */
static inline bool array_sem_stay_awake(struct array_sem *s, uint64_t ticket, uint64_t seen_granted,
                                        unsigned seen_slot)
{
    bool is_next = ticket == seen_granted;

    for (int64_t end = now_ns() + s->patience_ns; now_ns() < end;) {
        if (is_next ? atomic_load(&s->granted) != seen_granted
                    : atomic_load(array_sem_slot(s, ticket)) != seen_slot)
            return true;
        if (is_next)
            array_sem_pause();
        else
            sched_yield();
    }
    return false;
}

static inline void array_sem_wait(struct array_sem *s)
{
    uint64_t ticket = atomic_fetch_add(&s->next_ticket, 1);
    _Atomic unsigned *slot = array_sem_slot(s, ticket);

    for (;;) {
        unsigned seen = atomic_load(slot);
        uint64_t seen_granted = atomic_load(&s->granted);

        if (ticket < seen_granted)
            return;
        if (array_sem_stay_awake(s, ticket, seen_granted, seen))
            continue;
        /* No wake-up is lost: a post adds to `granted` before it reads the slot; a waiter does both in reverse. */
        if ((seen & ARRAY_ASLEEP) == 0
            && !atomic_compare_exchange_strong(slot, &seen, seen | ARRAY_ASLEEP))
            continue;
        if (atomic_load(&s->granted) == seen_granted)
            syscall(SYS_futex, slot, FUTEX_WAIT_PRIVATE, seen | ARRAY_ASLEEP, NULL, NULL, 0);
    }
}

/* Notify the waiter of a slot: always (it is next now), or only if it may sleep. */
static inline void array_sem_notify(_Atomic unsigned *slot, bool always)
{
    unsigned seen = atomic_load(slot);

    do {
        if (!always && (seen & ARRAY_ASLEEP) == 0)
            return;
    } while (!atomic_compare_exchange_weak(slot, &seen,
                                           (seen & ~(unsigned)ARRAY_ASLEEP) + ARRAY_NOTIFIED));
    if ((seen & ARRAY_ASLEEP) != 0)
        syscall(SYS_futex, slot, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static inline void array_sem_post(struct array_sem *s)
{
    uint64_t ticket = atomic_fetch_add(&s->granted, 1);

    array_sem_notify(array_sem_slot(s, ticket), false);
    array_sem_notify(array_sem_slot(s, ticket + 1), true);
}

#endif /* BENCH_ARRAY_SEM_H */
