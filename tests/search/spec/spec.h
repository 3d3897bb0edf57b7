/* SPDX-License-Identifier: MIT */
/*
 * spec.h - a semaphore without threads, atomics, a fast path or a lock: who must wait, who is
 * granted, what a call returns.  Written after fairsem.h; read spec.c as the specification.
 *
 * The fuzzer (../fuzz/model.c) adds what else a caller sees: statistics, tokens, callbacks, time.
 * The explorer (../core/model.c) looks for an order of steps that agrees with the results of a run.
 */
#ifndef SPEC_H
#define SPEC_H

#include "fairsem.h"

/* A request: of a thread that waits, of a ticket, of a drain. */
struct spec_request {
    int64_t units;
    int     priority;
    bool    ticket, drains;         /* a drain waits until so many units are free, and takes none */
};

enum { SPEC_QUEUE = 48 };

/* Copied and compared as a value; its requests are the caller's. */
struct spec {
    int64_t available, capacity;    /* of an unbounded one: FAIRSEM_MAX_UNITS */
    int64_t max_waiters;            /* 0: any number */
    bool    bounded, bypass;
    int     closed;                 /* the reason; 0: open */
    int     waiters, old;           /* so many of the waiters, which came first, are old */
    struct spec_request *queue[SPEC_QUEUE];     /* in order of arrival */
};

/* What returns an int returns the call's result: 0 or an errno value. */
bool    spec_valid(int64_t n);
int     spec_init(struct spec *s, int64_t units, const fairsem_attr_t *attr);
int     spec_destroy(const struct spec *s);

/* A request arrives.  `instead`, if not 0, is returned in place of waiting. */
enum { SPEC_WAITS = -1 };
int     spec_ask(struct spec *s, struct spec_request *r, int instead);
int     spec_try(struct spec *s, int64_t n);
bool    spec_would_block(const struct spec *s, int64_t n);
int64_t spec_upto(struct spec *s, int64_t max);     /* returns how many it has taken */

/* After these, and after a leave for a reason of its own, spec_next() says who else leaves. */
int     spec_release(struct spec *s, int64_t n);
bool    spec_regain(struct spec *s, const struct spec_request *granted);    /* lost some? */
int     spec_consume(struct spec *s, int64_t n);
int     spec_set_capacity(struct spec *s, int64_t capacity);
int     spec_close(struct spec *s, int reason);
int     spec_close_to_drain(struct spec *s, const struct spec_request *r);

/* The head; or the first of those that can never be granted.  NULL: there is none. */
struct spec_request *spec_first(const struct spec *s, bool refused);
void    spec_leave(struct spec *s, const struct spec_request *r);
bool    spec_is_full(const struct spec *s);
bool    spec_may_pass(const struct spec *s, int64_t n);     /* only with a bypass */
/* The next that leaves the queue, and its result; NULL: none.  With a bypass the head may claim. */
struct spec_request *spec_next(struct spec *s, bool claims, int *result);

/* What a ticket that waits no more, or SPEC_WAITS, tells who claims it or waits for it. */
int     spec_ticket(enum fairsem_ticket_state state, int reason);
/* Of what is closed or canceled.  0: `given`, or else `usual`, has become its reason. */
int     spec_reason(int *reason, int given, int usual);

#endif
