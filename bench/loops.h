/* SPDX-License-Identifier: MIT */
/*
 * loops.h - the loops that measure a few nanoseconds, the same for every kind of semaphore.
 *
 * The loops seldom read the clock.  The table of operations is a constant where a loop is instantiated,
 * so no indirect call is left.
 */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include "clock.h"
#include "sem_ops.h"

#include <stdatomic.h>

/*
 * Call batch(arg) once to warm up, and then until `ns` have passed.  A batch makes `size` pairs of calls, and
 * returns 0 if all of them succeed.  Returns nanoseconds per pair.
 */
double loop_batches(int (*batch)(void *arg), void *arg, int size, int64_t ns);

/*
 * Measure the peers in turn, in a thread of their own, if possible on core 0, while main sleeps.  In a
 * process with a single thread, glibc would take cheaper, non-atomic paths.  But programs that need a
 * semaphore have several threads.
 */
struct loop_alone {
    const char *workload, *setting;
    const struct loop_peer {
        const char *name;
        int (*batch)(void *arg);
        void *arg;
    } *peers; /* ends with a peer without a batch */
    int size;
    bool quick;
};
void loop_alone(struct loop_alone *alone);

enum side { LEADER, FOLLOWER };
enum { ROUNDS = 32 }; /* round trips between two readings of the clock */

/* Two sides that take turns. */
struct turns {
    void *sems[2]; /* one for each side: its unit is the turn of that side */
    int cores[2];
    int64_t warm_up_ns, duration_ns;
    double ns_per_handoff; /* out */
    atomic_bool stop;
    _Alignas(128) atomic_int line; /* without semaphores: the side whose turn it is */
};

/* With ops NULL, the turn is passed by `line` instead of semaphores. */
ALWAYS_INLINE void turns_give(const struct sem_ops *ops, struct turns *g, enum side to)
{
    if (ops)
        ops->release(g->sems[to]);
    else
        atomic_store_explicit(&g->line, (int)to, memory_order_release);
}

ALWAYS_INLINE void turns_await(const struct sem_ops *ops, struct turns *g, enum side me)
{
    if (ops) {
        ops->acquire(g->sems[me]);
        return;
    }
    while (atomic_load_explicit(&g->line, memory_order_acquire) != (int)me)
        continue;
}

ALWAYS_INLINE void turns_lead(const struct sem_ops *ops, struct turns *g)
{
    int64_t start = now_ns(), begin = start, now;
    long rounds = 0;

    do {
        for (int i = 0; i < ROUNDS; i++) {
            turns_give(ops, g, FOLLOWER);
            turns_await(ops, g, LEADER);
        }
        rounds += ROUNDS;
        now = now_ns();
        if (begin == start && now - start >= g->warm_up_ns) {
            begin = now;
            rounds = 0;
        }
    } while (rounds == 0 || now - begin < g->duration_ns);
    g->ns_per_handoff = (double)(now - begin) / (double)rounds / 2;
    atomic_store(&g->stop, true);
    turns_give(ops, g, FOLLOWER);
}

ALWAYS_INLINE void turns_follow(const struct sem_ops *ops, struct turns *g)
{
    for (;;) {
        turns_await(ops, g, FOLLOWER);
        if (atomic_load_explicit(&g->stop, memory_order_relaxed))
            return;
        turns_give(ops, g, LEADER);
    }
}

#endif /* BENCH_LOOPS_H */
