/* SPDX-License-Identifier: MIT */
/*
 * history.h - what happened in one wait queue, and whether a waiter was passed.
 *
 * A history has two parts.  The events, joins and leaves, are in the order of the semaphore's
 * critical sections: a thread that joins or leaves holds the mutex, and writes the event then.  The
 * takes without a place in the queue, by the fast path or a try, are in no such order; of each is
 * known how many events its thread had seen before the call and after it.
 *
 * PASSES
 *   in the queue  A waiter was granted while another one of a better priority, or of the same and
 *                 with an earlier sequence number, was in the queue.  One that left without units,
 *                 out of time or canceled, may leave from anywhere.
 *   beside it     A take without a sequence number, while a waiter was in the queue from before
 *                 the call until after it: its join is among the events seen before, its leave not
 *                 among those seen after.  Of whatever priority.
 *
 * The second is no guess about time.  A thread that has seen the join has its compare-and-swap
 * on the word after the one that set SLOW for it.  And if it came after the store of the word
 * that followed the leave, then it has read that store, or one that came after, with acquire
 * order, and must see the leave, which was written before.  So a take that counts as a pass
 * was made while the waiter was in the queue; and the correct library gives none, ever.  What is
 * not found is a pass by a call that began before the waiter joined, or that returned when it had
 * left; record.h has another way to find these.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    uint32_t seq;           /* the waiter's sequence number */
    int      priority;      /* of a join */
    bool     joins;         /* or leaves */
};

/* How many events the thread had seen. */
struct take {
    uint32_t before, after;
};

struct takes {
    struct take *list;      /* in the order of its thread */
    size_t       count;
};

struct history {
    struct event *events;
    size_t        count;
    bool         *granted;  /* by seq: its acquire returned 0 */
    struct takes *takes;    /* of each thread */
    int           threads;
};

struct verdict {
    int64_t joined, granted, taken;     /* joined the queue; of these granted; took beside it */
    int64_t waited;                     /* that did not leave in the section they joined in */
    int64_t passes_in_queue, passes_beside;
    int64_t malformed;                  /* numbers out of order, leaves without a join, ... */
};

/* Adds to *verdict.  Needs memory for the sequence numbers: false if there is none. */
bool history_check(const struct history *h, struct verdict *verdict);

#endif
