/* SPDX-License-Identifier: MIT */
/*
 * futex_ring.c - a ring of threads in which each passes its unit to the next through a bare futex.
 *
 * A hand-off in a fixed order cannot cost less: the next thread is known, and there is no queue,
 * no mutex and no common count.  Each thread has one word with the number of its units.  A thread
 * that has held a unit adds it to the word of the next thread and wakes that thread.
 */
#define _DEFAULT_SOURCE /* syscall */

#ifdef HAVE_CONFIG_H
#include <config.h>
#elif defined(__linux__)
#define HAVE_LINUX_FUTEX_H 1
#endif

#include "peers.h"

#ifdef HAVE_LINUX_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

struct seat {
    _Alignas(128) _Atomic uint32_t tokens;
};

struct ring {
    struct seat seats[FUTEX_RING_MAX_THREADS];
};

static _Thread_local struct seat *mine, *next;

static int ring_peer_init(void *ring, int64_t units)
{
    struct ring *r = ring;

    for (int i = 0; i < FUTEX_RING_MAX_THREADS; i++)
        atomic_init(&r->seats[i].tokens, i < units);
    return 0;
}

static void ring_sit_down(void *ring, int place, int threads)
{
    struct ring *r = ring;

    mine = &r->seats[place];
    next = &r->seats[(place + 1) % threads];
}

static int ring_peer_acquire(void *ring)
{
    (void)ring;
    /* No other thread takes from this word. */
    while (atomic_load_explicit(&mine->tokens, memory_order_acquire) == 0)
        syscall(SYS_futex, &mine->tokens, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    atomic_fetch_sub_explicit(&mine->tokens, 1, memory_order_relaxed);
    return 0;
}

static int ring_peer_release(void *ring)
{
    (void)ring;
    atomic_fetch_add_explicit(&next->tokens, 1, memory_order_release);
    syscall(SYS_futex, &next->tokens, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return 0;
}

static int ring_peer_destroy(void *ring)
{
    (void)ring;
    return 0;
}

SEM_OPS(ring, "ring of futexes", sizeof(struct ring), .sit_down = ring_sit_down);

const struct sem_ops *futex_ring_ops(void)
{
    return &ops_ring;
}

#else /* no futexes */

const struct sem_ops *futex_ring_ops(void)
{
    return NULL;
}

#endif
