/* SPDX-License-Identifier: MIT */
/*
 * falsified.c - histories whose verdict is known, most of them falsified: what order.c must say.
 *
 *     a0   the first waiter joins with priority 0; b0, c0: the next ones
 *     A    it is granted        a-   it leaves and is not granted
 *     <    a take begins        >0   it ends, with priority 0
 */
#include "order.h"

#include <stdio.h>

static const struct history {
    const char *what, *events;
    int64_t     in_queue, beside, malformed;
} histories[] = {
    { "in order",                        "a0 b0 A B", 0, 0, 0 },
    { "the last first",                  "a0 b0 B A", 1, 0, 0 },
    { "the last was late, and left",     "a0 b0 b- A", 0, 0, 0 },
    { "the better one first",            "a1 b0 B A", 0, 0, 0 },
    { "the better one last",             "a1 b0 A B", 1, 0, 0 },
    { "the second of three",             "a0 b0 c0 B A C", 1, 0, 0 },
    { "a take in the middle of a wait",  "a0 < >0 A", 0, 1, 0 },
    { "a take beside two, one stays",    "a0 b0 < A >0 B", 0, 1, 0 },
    { "a take beside two, both leave",   "a0 b0 < A B >0", 0, 0, 0 },
    { "a better take",                   "a1 < >0 A", 0, 0, 0 },
    { "a take of the same priority",     "a1 < >1 A", 0, 1, 0 },
    { "a take that began before",        "< a0 >0 A", 0, 0, 0 },
    { "a take that ended after",         "a0 < A >0", 0, 0, 0 },
    { "a sequence number twice",         "a0 A a0 A", 0, 0, 2 },
    { "a leave without a join",          "a0 A B", 0, 0, 1 },
    { "one that never leaves",           "a0", 0, 0, 1 },
};

static bool judged_rightly(const struct history *h)
{
    struct order o;
    uint64_t before = 0;
    int64_t beside = 0;

    order_begin(&o);
    for (const char *e = h->events; *e != '\0'; e++) {
        if (*e == '<')
            before = order_before(&o);
        else if (*e == '>')
            beside += order_passed(&o, before, *++e - '0');
        else if (*e >= 'A' && *e <= 'C')
            order_leave(&o, (uint64_t)(*e - 'A'), true);
        else if (*e != ' ' && e[1] == '-')
            order_leave(&o, (uint64_t)(*e++ - 'a'), false);
        else if (*e != ' ') {
            order_join(&o, (uint64_t)(*e - 'a'), e[1] - '0');
            e++;
        }
    }
    if (o.passes_in_queue == h->in_queue && beside == h->beside
        && o.malformed + o.length == h->malformed)
        return true;
    fprintf(stderr, "FAILED: \"%s\" is misjudged\n", h->what);
    return false;
}

bool order_judges_rightly(void)
{
    const int count = sizeof histories / sizeof histories[0];
    int right = 0;

    for (int i = 0; i < count; i++)
        right += judged_rightly(&histories[i]);
    printf("%d of %d histories with a known verdict judged rightly\n", right, count);
    return right == count;
}
