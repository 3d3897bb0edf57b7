/* SPDX-License-Identifier: MIT */
/*
 * order.h - judges the order of one wait queue: was a waiter passed?
 *
 * It is told who joins and who leaves, in the order of the semaphore's critical sections: its callers
 * hold the mutex.  Threads that take units without a place in the queue, by the fast path or a try,
 * are in no such order.  They ask before the call how many have joined, and after it whether one of
 * these is still there.
 *
 * PASSES
 *   in the queue  A waiter was granted while another one of a better priority, or of the same
 *                 priority and with an earlier sequence number, was in the queue.  A waiter that
 *                 timed out or was canceled may leave from any place.
 *   beside it     A take without a sequence number, while a waiter of the same or a better priority
 *                 was in the queue from before the call until after it.
 *
 * The second kind does not depend on time.  If a thread has seen the join, its compare-and-swap on
 * the word comes after the one that set SLOW for the waiter.  If it also came after the store to
 * the word that followed the leave, it has read that store or a later one with acquire order, and
 * must see the leave, which was noted before.  So a take that counts as a pass was made while the
 * waiter was in the queue, and a correct library never makes one.  A pass is not found if its call
 * began before the waiter joined, or returned after it had left; record.c has another way to find
 * these.
 */
#ifndef ORDER_H
#define ORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ORDER_LONGEST    128        /* queue */
#define ORDER_PRIORITIES 3          /* 0, 1, 2; a try's is worse than all */

struct order {
    struct { uint64_t seq; int priority; } queue[ORDER_LONGEST];  /* under the mutex, oldest first */
    int              length;                    /* under the mutex, and the next two */
    int64_t          passes_in_queue;
    int64_t          malformed;                 /* numbers out of order, leaves without a join, ... */
    _Atomic uint64_t joined;                    /* so many; written under the mutex, as the next */
    _Atomic uint64_t oldest[ORDER_PRIORITIES];  /* of each priority: its number; UINT64_MAX: nobody */
};

void order_begin(struct order *o);
void order_join(struct order *o, uint64_t seq, int priority);
void order_leave(struct order *o, uint64_t seq, bool granted);

/* Around a take: how many had joined, and whether one of these was passed. */
uint64_t order_before(const struct order *o);
bool     order_passed(const struct order *o, uint64_t before, int priority);

/* Does the judge find passes, and only passes?  Prints those falsified histories that it misjudges. */
bool order_judges_rightly(void);

#endif
