/* SPDX-License-Identifier: MIT */
/* events.c - future events, in a heap; events with the same time are handled in the order of their addition. */
#include "simulator.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_EVENTS = 1 << 16 };

struct event {
    int64_t         at;
    uint64_t        order;
    enum event_kind kind;
    struct thread  *thread;
    struct core    *core;
    uint64_t        moves;      /* of the thread when the event was added */
};

static struct event heap[MOST_EVENTS];
static int count;
static uint64_t added;

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

void event_add(enum event_kind kind, struct thread *thread, struct core *core, int64_t at)
{
    struct event event = { at, added++, kind, thread, core, thread != NULL ? thread->moves : 0 };
    int i = count++;

    if (count == MOST_EVENTS) {
        fprintf(stderr, "cores: more than %d events\n", MOST_EVENTS);
        abort();
    }
    while (i > 0 && is_before(&event, &heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = event;
}

int64_t event_next(void)
{
    return count > 0 ? heap[0].at : NEVER;
}

static struct event take_first(void)
{
    struct event first = heap[0], last = heap[--count];
    int i = 0;

    for (int child = 1; child < count; child = 2 * i + 1) {
        if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return first;
}

void event_handle(void)
{
    struct event event = take_first();

    if (event.thread != NULL && event.moves != event.thread->moves)
        return;
    switch (event.kind) {
    case TIME_IS_OUT:
        time_is_out(event.thread, event.at);
        break;
    case THREAD_ARRIVES:
        thread_arrives(event.thread, event.at);
        break;
    case CORE_PULLS:
        pull(event.core, event.at);
        break;
    }
}
