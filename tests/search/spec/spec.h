/* SPDX-License-Identifier: MIT */
/*
 * spec.h - a semaphore without threads, atomics, a fast path or a lock: the requests that wait, the requests that
 * are granted, and the results of calls.  Written after fairsem.h; read spec.c as the specification.
 *
 * The fuzzer (../fuzz/model.c) adds everything else that a caller sees: statistics, tokens, callbacks, time.
 * The explorer (../core/model.c) looks for an order of steps that agrees with the results of a run.
 */
#ifndef SPEC_H
#define SPEC_H

#include "fairsem.h"

/* A request of a waiting thread, a ticket or a drain. */
struct spec_request {
    int64_t units;
    int     priority;
    bool    ticket, drains;         /* a drain waits until its units are free, and takes none */
    int     share, weight;          /* 0 for no share; the weight of the share */
};

enum { SPEC_QUEUE = 48 };

/*
 * Units / weight: whole + part / SPEC_PARTS, for the weights 1 and 3.  Tags that differ by less than
 * SPEC_STEP parts are equal; what is left below a step counts only in the sums of its own share.
 */
enum { SPEC_STEP = 3, SPEC_PARTS = SPEC_STEP << 20 };
struct spec_tag {
    int64_t whole;
    int32_t part;
};

/* The requests of one share, or at 0 those without a share. */
struct spec_flow {
    struct spec_tag tag;            /* start tag of its first request; finish tag if it has none */
    int     priority, weight;       /* the priority of its first request, or of the last that was first */
    bool    knows;                  /* it has no requests, and a finish tag */
    int64_t charged;
    /* For the bound: */
    int64_t counted, largest;       /* units of its last grant, with charges; the most so far */
    int64_t given;                  /* of all grants: units * SPEC_STEP / weight */
};
enum { SPEC_FLOWS = 4 };

/* Of one flow before another one, since both have waited with one priority. */
struct spec_lead {
    bool    both;
    int64_t least, most;
};

/* Can be copied and compared as a value; its requests are the caller's. */
struct spec {
    int64_t available, capacity;    /* FAIRSEM_MAX_UNITS if unbounded */
    int64_t max_waiters;            /* 0 for no limit */
    bool    bounded, bypass, aging;
    int     closed;                 /* the reason, or 0 if open */
    int     waiters, aged;          /* their number, and the number of aged ones, which came first */
    struct spec_request *queue[SPEC_QUEUE];     /* in order of arrival */
    struct spec_request *behind;    /* the last refused one, if others may be refused after it */

    bool    flows;                  /* a request with a share has been enqueued since the queue was empty */
    struct spec_tag virtual_time;   /* the latest start tag that was granted */
    struct spec_flow flow[SPEC_FLOWS];
    struct spec_lead lead[SPEC_FLOWS][SPEC_FLOWS];
    bool    charged_back;           /* a charge was negative, for which there is no bound */
    bool    unfair;                 /* the bound of shares was exceeded */
};

/* Functions that return an int return the result of the call: 0 or an errno value. */
bool    spec_valid(int64_t n);
int     spec_init(struct spec *s, int64_t units, const fairsem_attr_t *attr);
int     spec_destroy(const struct spec *s);

/* A request arrives.  If `instead` is not 0, it is returned in place of waiting. */
enum { SPEC_WAITS = -1 };
int     spec_ask(struct spec *s, struct spec_request *r, int instead);
int     spec_try(struct spec *s, int64_t n);
bool    spec_would_block(const struct spec *s, int64_t n);
int64_t spec_upto(struct spec *s, int64_t max);     /* returns the number of units taken */

/* Semaphores may use a share one after the other; only the caller knows all of them. */
bool    spec_has_share(const struct spec *s, int share);    /* does a request of it wait? */
bool    spec_takes_shares(const struct spec *s);
void    spec_forget_share(struct spec *s, int share);       /* it was used elsewhere, or is a new one */
void    spec_charge(struct spec *s, int share, int64_t n);
int     spec_shares(const struct spec *s);                  /* their number in the queue */

/*
 * After these, after a request that waits, and after a leave for the request's own reason, spec_next() returns
 * others that leave.
 */
int     spec_release(struct spec *s, int64_t n);
bool    spec_regain(struct spec *s, const struct spec_request *granted);    /* were units lost? */
int     spec_consume(struct spec *s, int64_t n);
int     spec_set_capacity(struct spec *s, int64_t capacity);
int     spec_close(struct spec *s, int reason);
int     spec_close_to_drain(struct spec *s, const struct spec_request *r);

/* Returns the head, or NULL; the request behind this one, or NULL. */
struct spec_request *spec_first(const struct spec *s);
struct spec_request *spec_behind(const struct spec *s, const struct spec_request *r);
void    spec_leave(struct spec *s, const struct spec_request *r);
bool    spec_is_full(const struct spec *s);
bool    spec_may_pass(const struct spec *s, int64_t n);     /* only with a bypass */
/* Returns the next request that leaves the queue, and its result; or NULL.  With a bypass the head may claim. */
struct spec_request *spec_next(struct spec *s, bool claims, int *result);

/* The result of a claim of, or a wait for, a ticket in this state: SPEC_WAITS if it still waits. */
int     spec_ticket(enum fairsem_ticket_state state, int reason);
/* The result of a close or a cancel.  If it is 0, the new reason is `given`, or `usual` if that is 0. */
int     spec_reason(int *reason, int given, int usual);

#endif
