/* SPDX-License-Identifier: MIT */
/*
 * doctored.c - see doctored.h.  Each history is a few events of at most three waiters: J(0, 1) is a
 * join with sequence number 0 and priority 1, L(0) the leave of that waiter.
 */
#include "doctored.h"

#include "history.h"

#include <stdio.h>

#define J(seq, priority) { (seq), (priority), true }
#define L(seq)           { (seq), 0, false }

struct doctored {
    const char  *what;
    struct event events[6];
    size_t       count;
    bool         granted[6];
    struct take  take;          /* one, if after != 0 or before != 0 */
    int64_t      in_queue, beside, malformed;
};

static struct doctored histories[] = {
    { "in order", { J(0, 0), J(1, 0), L(0), L(1) }, 4, { true, true }, { 0, 0, 0 }, 0, 0, 0 },
    { "the last first", { J(0, 0), J(1, 0), L(1), L(0) }, 4, { true, true }, { 0, 0, 0 }, 1, 0, 0 },
    { "the last was late, and left", { J(0, 0), J(1, 0), L(1), L(0) }, 4, { true, false },
      { 0, 0, 0 }, 0, 0, 0 },
    { "the better one first", { J(0, 1), J(1, 0), L(1), L(0) }, 4, { true, true },
      { 0, 0, 0 }, 0, 0, 0 },
    { "the better one last", { J(0, 1), J(1, 0), L(0), L(1) }, 4, { true, true },
      { 0, 0, 0 }, 1, 0, 0 },
    { "the second of three", { J(0, 0), J(1, 0), J(2, 0), L(1), L(0), L(2) }, 6,
      { true, true, true }, { 0, 0, 0 }, 1, 0, 0 },
    { "a take in the middle of a wait", { J(0, 0), L(0) }, 2, { true }, { 1, 1, 0 }, 0, 1, 0 },
    { "a take beside two, one stays", { J(0, 0), J(1, 0), L(0), L(1) }, 4, { true, true },
      { 2, 3, 0 }, 0, 1, 0 },
    { "a take beside two, both leave", { J(0, 0), J(1, 0), L(0), L(1) }, 4, { true, true },
      { 2, 4, 0 }, 0, 0, 0 },
    { "a better take", { J(0, 1), L(0) }, 2, { true }, { 1, 1, 0 }, 0, 0, 0 },
    { "a take of the same priority", { J(0, 1), L(0) }, 2, { true }, { 1, 1, 1 }, 0, 1, 0 },
    { "a take that began before", { J(0, 0), L(0) }, 2, { true }, { 0, 1, 0 }, 0, 0, 0 },
    { "a take that ended after", { J(0, 0), L(0) }, 2, { true }, { 1, 2, 0 }, 0, 0, 0 },
    { "a sequence number twice", { J(0, 0), L(0), J(0, 0), L(0) }, 4, { true }, { 0, 0, 0 }, 0, 0, 2 },
    { "a leave without a join", { J(0, 0), L(0), L(1) }, 3, { true }, { 0, 0, 0 }, 0, 0, 1 },
    { "one that never leaves", { J(0, 0) }, 1, { false }, { 0, 0, 0 }, 0, 0, 1 },
};

static bool judged_rightly(struct doctored *d)
{
    struct verdict verdict = { 0 };
    struct takes takes = { &d->take, d->take.before + d->take.after != 0 };
    struct history h = { d->events, d->count, d->granted, &takes, 1 };

    if (history_check(&h, &verdict) && verdict.passes_in_queue == d->in_queue
        && verdict.passes_beside == d->beside && verdict.malformed == d->malformed)
        return true;
    fprintf(stderr, "FAILED: the checker judges \"%s\" wrongly\n", d->what);
    return false;
}

bool doctored_histories_are_judged_rightly(void)
{
    const int count = sizeof histories / sizeof histories[0];
    int right = 0;

    for (int i = 0; i < count; i++)
        right += judged_rightly(&histories[i]);
    printf("%d of %d doctored histories judged rightly\n", right, count);
    return right == count;
}
