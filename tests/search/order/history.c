/* SPDX-License-Identifier: MIT */
/* history.c - see history.h: replays the events with a queue of its own. */
#include "history.h"

#include <stdlib.h>

#define LONGEST_QUEUE 64

struct place {
    uint32_t seq;
    int      priority;
};

struct replay {
    const struct history *h;
    struct verdict       *verdict;
    uint32_t             *left_at;      /* by seq: the number of the event of its leave */
    size_t               *next_take;    /* of each thread */
    struct place          queue[LONGEST_QUEUE]; /* in no order */
    int                   length;
    uint32_t              next_seq;
};

static bool find_leaves(struct replay *r)
{
    const struct history *h = r->h;

    for (size_t i = 0; i < h->count; i++)
        r->left_at[i] = UINT32_MAX;
    for (size_t i = 0; i < h->count; i++) {
        const struct event *e = &h->events[i];

        if (e->seq >= h->count)
            return false;
        if (!e->joins)
            r->left_at[e->seq] = (uint32_t)i;
    }
    return true;
}

/* After `at` events: judge the takes whose threads had seen exactly these. */
static void judge_takes(struct replay *r, size_t at)
{
    for (int t = 0; t < r->h->threads; t++) {
        const struct takes *takes = &r->h->takes[t];

        for (; r->next_take[t] < takes->count; r->next_take[t]++) {
            const struct take *take = &takes->list[r->next_take[t]];
            bool passed = false;

            if (take->before != at)
                break;
            for (int i = 0; i < r->length; i++)
                passed |= r->left_at[r->queue[i].seq] >= take->after
                          && r->queue[i].priority <= take->priority;
            r->verdict->passes_beside += passed;
            r->verdict->taken++;
        }
    }
}

static void join(struct replay *r, const struct event *e)
{
    if (e->seq != r->next_seq || r->length == LONGEST_QUEUE) {
        r->verdict->malformed++;
        return;
    }
    r->next_seq++;
    r->queue[r->length++] = (struct place){ e->seq, e->priority };
    r->verdict->joined++;
}

static bool goes_before(const struct place *a, const struct place *b)
{
    return a->priority < b->priority || (a->priority == b->priority && a->seq < b->seq);
}

static void leave(struct replay *r, const struct event *e, bool at_once)
{
    bool passed = false;
    int i = 0;

    while (i < r->length && r->queue[i].seq != e->seq)
        i++;
    if (i == r->length) {
        r->verdict->malformed++;
        return;
    }
    if (r->h->granted[e->seq]) {
        for (int k = 0; k < r->length; k++)
            passed |= goes_before(&r->queue[k], &r->queue[i]);
        r->verdict->passes_in_queue += passed;
        r->verdict->granted++;
    }
    r->verdict->waited += !at_once;
    r->queue[i] = r->queue[--r->length];
}

static void replay(struct replay *r)
{
    const struct history *h = r->h;

    if (!find_leaves(r)) {
        r->verdict->malformed++;
        return;
    }
    for (size_t i = 0; i < h->count; i++) {
        const struct event *e = &h->events[i];

        judge_takes(r, i);
        if (e->joins)
            join(r, e);
        else
            leave(r, e, i > 0 && h->events[i - 1].joins && h->events[i - 1].seq == e->seq);
    }
    judge_takes(r, h->count);
    r->verdict->malformed += r->length;
    for (int t = 0; t < h->threads; t++)
        r->verdict->malformed += (int64_t)(h->takes[t].count - r->next_take[t]);
}

bool history_check(const struct history *h, struct verdict *verdict)
{
    struct replay r = { .h = h, .verdict = verdict };

    r.left_at = malloc((h->count + 1) * sizeof *r.left_at);
    r.next_take = calloc((size_t)h->threads + 1, sizeof *r.next_take);
    if (r.left_at != NULL && r.next_take != NULL)
        replay(&r);
    free(r.left_at);
    free(r.next_take);
    return r.left_at != NULL && r.next_take != NULL;
}
