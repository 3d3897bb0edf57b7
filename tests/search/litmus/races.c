/* SPDX-License-Identifier: MIT */
/*
 * races.c - is there a data race?  Two accesses of two threads to the same bytes, one of them a
 * store, one of them plain, and neither happens before the other.
 */
#include "execution.h"

#include <stdio.h>

static bool touches(int block, int e)
{
    for (int byte = event[e]->first; byte < event[e]->first + event[e]->size; byte++) {
        int bit = 1 << byte % 8;

        if ((event[block]->block->writes[byte / 8] & bit) != 0
            || (is_write(e) && (event[block]->block->reads[byte / 8] & bit) != 0))
            return true;
    }
    return false;
}

static bool blocks_conflict(const struct block *a, const struct block *b)
{
    for (int i = 0; i < SHARED / 8; i++) {
        if (((a->writes[i] & (b->reads[i] | b->writes[i])) | (a->reads[i] & b->writes[i])) != 0)
            return true;
    }
    return false;
}

static bool conflict(int a, int b)
{
    if (event[a]->kind == BLOCK && event[b]->kind == BLOCK)
        return blocks_conflict(event[a]->block, event[b]->block);
    if (event[a]->kind == FENCE || event[b]->kind == FENCE)
        return false;
    if (event[a]->kind == BLOCK)
        return touches(a, b);
    if (event[b]->kind == BLOCK)
        return touches(b, a);
    return event[a]->location == event[b]->location && (event[a]->plain || event[b]->plain)
           && (is_write(a) || is_write(b));
}

const char *find_race(void)
{
    static char text[120];

    for (int a = 0; a < events; a++) {
        for (int b = a + 1; b < events; b++) {
            if (thread_of[a] == thread_of[b] || has(hb, a, b) || has(hb, b, a) || !conflict(a, b))
                continue;
            snprintf(text, sizeof text, "thread %d at %p, thread %d at %p", thread_of[a],
                     event[a]->pc, thread_of[b], event[b]->pc);
            return text;
        }
    }
    return NULL;
}
