/* SPDX-License-Identifier: MIT */
/*
 * history.h - the history of one wait queue, and whether a waiter was passed.
 *
 * A history has two parts.  The events, joins and leaves, are in the order of the semaphore's
 * critical sections: a thread that joins or leaves holds the mutex, and writes the event then.  The
 * takes without a place in the queue, by the fast path or a try, are in no such order.  For each it
 * is known how many events its thread had seen before the call, and how many after it.
 *
 * PASSES
 *   in the queue  A waiter was granted while another one of a better priority, or of the same
 *                 priority and with an earlier sequence number, was in the queue.  A waiter that
 *                 timed out or was canceled may leave from any place.
 *   beside it     A take without a sequence number, while a waiter of the same or a better priority
 *                 was in the queue from before the call until after it: its join is among the events
 *                 seen before, its leave is not among those seen after.
 *
 * The second kind does not depend on time.  If a thread has seen the join, its compare-and-swap on
 * the word comes after the one that set SLOW for the waiter.  If it also came after the store to
 * the word that followed the leave, it has read that store or a later one with acquire order, and
 * must see the leave, which was written before.  So a take that counts as a pass was made while the
 * waiter was in the queue, and a correct library never makes one.  A pass is not found if its call
 * began before the waiter joined, or returned after it had left; record.h has another way to find
 * these.
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

/* How many events the thread had seen; a try's priority is the worst. */
struct take {
    uint32_t before, after;
    int      priority;
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
    int64_t joined, granted, taken;     /* joined the queue; were granted there; took beside it */
    int64_t waited;                     /* did not leave in the section in which they joined */
    int64_t passes_in_queue, passes_beside;
    int64_t malformed;                  /* numbers out of order, leaves without a join, ... */
};

/* Adds to *verdict.  Needs memory for the sequence numbers: false if there is none. */
bool history_check(const struct history *h, struct verdict *verdict);

#endif
