/* SPDX-License-Identifier: MIT */
/*
 * execution.h - private to executions.c, axioms.c and races.c: the execution that is looked at, one
 * run of each thread as one list of events.
 */
#ifndef LITMUS_EXECUTION_H
#define LITMUS_EXECUTION_H

#include "explorer.h"

typedef unsigned __int128 set;
typedef set relation[EVENTS];

#define ONE(i) ((set)1 << (i))

enum { INITIAL = -1 };

extern const struct event *event[EVENTS];
extern int thread_of[EVENTS], events;
extern int rf[EVENTS];              /* from which store a load reads; INITIAL */
extern int position[EVENTS];        /* of a store in its mo, from 1 on */
extern relation sb, hb;

static inline bool has(relation r, int from, int to)
{
    return (r[from] >> to & 1) != 0;
}

static inline bool is_read(int e)
{
    return event[e]->kind == READ || event[e]->kind == CHANGE;
}

static inline bool is_write(int e)
{
    return event[e]->kind == WRITE || event[e]->kind == CHANGE;
}

static inline bool is_sc(int e)
{
    return event[e]->order == memory_order_seq_cst;
}

/* axioms.c: the first two need rf, the others mo as well.  find_hb() is false if hb has a cycle. */
bool find_hb(void);
bool has_thin_air(void);
bool is_coherent(int location);
bool sc_holds(void);

/* races.c: NULL, or what it is.  Needs hb. */
const char *find_race(void);

#endif
