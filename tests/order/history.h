/* SPDX-License-Identifier: MIT */
/*
 * history.h - what happened in one line, and whether anybody was passed.
 *
 * A history has two parts.  The events, joins and leaves, are in the order of the semaphore's
 * critical sections: whoever joins or leaves holds the mutex, and writes the event then.  The
 * takes without a place in line, by the fast path or a try, are in no such order; of each is
 * known how many events its thread had seen before the call and after it.
 *
 * PASSES
 *   in line    Somebody was granted while another one of a better priority, or of the same
 *              and with an earlier ticket, stood in line.  Who left without units, late or
 *              canceled, may leave from anywhere.
 *   beside it  A take without a ticket, while somebody was in line from before the call until
 *              after it: his join is among the events seen before, his leave not among those
 *              seen after.  Of whatever priority.
 *
 * The second is no guess about time.  A thread that has seen the join has its compare-and-swap
 * on the word after the one that set SLOW for it.  And if it came after the store of the word
 * that followed the leave, then it has read that store, or one that came after, with acquire
 * order, and must see the leave, which was written before.  So a take that counts as a pass
 * was made while the waiter was in line; and the correct library gives none, ever.  What is
 * not found is a pass by a call that began before the waiter joined, or that returned when he
 * had left; record.h has another way to find these.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    uint32_t ticket;
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
    bool         *granted;  /* by ticket: its acquire returned 0 */
    struct takes *takes;    /* of each thread */
    int           threads;
};

struct verdict {
    int64_t joined, granted, taken;     /* requests in line; of these served; takes beside it */
    int64_t waited;                     /* that did not leave in the section they joined in */
    int64_t passes_in_line, passes_beside;
    int64_t malformed;                  /* tickets out of order, leaves without a join, ... */
};

/* Adds to *verdict.  Needs memory for the tickets: false if there is none. */
bool history_check(const struct history *h, struct verdict *verdict);

#endif
