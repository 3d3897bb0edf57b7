/* SPDX-License-Identifier: MIT */
/*
 * spec.h - a semaphore without threads, atomics, a fast path or a lock: which requests wait, which requests are
 * granted, and what calls return.  It follows fairsem.h; read spec.c as the specification.
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
 * Units / weight: whole + part / SPEC_PARTS, which is exact for the weights 1 and 3.  Two tags are compared in
 * steps of SPEC_STEP parts; the remainder below a step counts only in the sums of the tag's own share.
 */
enum { SPEC_STEP = 3, SPEC_PARTS = SPEC_STEP << 20 };
struct spec_tag {
    int64_t whole;
    int32_t part;
};

/* A flow: the requests of one share.  Flow 0, the common flow, has the requests without a share. */
struct spec_flow {
    struct spec_tag tag;            /* start tag of its first request; without requests, its finish tag */
    int     priority, weight;       /* the priority of its first request; without requests, of the latest one */
    bool    knows;                  /* its finish tag is valid; used while it has no requests */
    int64_t charged;                /* since its last grant */
    /* For the bound of shares: */
    int64_t counted, largest;       /* units of its last grant, with charges; the maximum of these numbers */
    int64_t given;                  /* sum over all its grants: units * SPEC_STEP / weight */
};
enum { SPEC_FLOWS = 4 };

/*
 * The difference of two flows' .given: its minimum and maximum since both have had first requests of one
 * priority.
 */
struct spec_lead {
    bool    both;
    int64_t least, most;
};

/* Can be copied and compared as a value; the requests belong to the caller. */
struct spec {
    int64_t available, capacity;    /* FAIRSEM_MAX_UNITS if unbounded */
    int64_t max_waiters;            /* 0 for no limit */
    bool    bounded, bypass, aging;
    int     closed;                 /* the reason, or 0 if open */
    int     waiters, aged;          /* number of requests in the queue; of aged requests, which arrived first */
    struct spec_request *queue[SPEC_QUEUE];     /* in order of arrival */
    struct spec_request *behind;    /* the request behind the last refused one: the search goes on there */

    bool    flows;                  /* a request with a share has been enqueued since the queue was empty */
    struct spec_tag virtual_time;   /* the latest start tag that was granted */
    struct spec_flow flow[SPEC_FLOWS];
    struct spec_lead lead[SPEC_FLOWS][SPEC_FLOWS];
    bool    charged_back;           /* a charge was negative: the bound of shares no longer holds */
    bool    unfair;                 /* a share has exceeded the bound of shares */
};

/* Functions that return an int return the result of the call: 0 or an errno value. */
bool    spec_valid(int64_t n);
int     spec_init(struct spec *s, int64_t units, const fairsem_attr_t *attr);
int     spec_destroy(const struct spec *s);

/* A request arrives.  If it would have to wait and `instead` is not 0, spec_ask() only returns `instead`. */
enum { SPEC_WAITS = -1 };
int     spec_ask(struct spec *s, struct spec_request *r, int instead);
int     spec_try(struct spec *s, int64_t n);
bool    spec_would_block(const struct spec *s, int64_t n);
int64_t spec_upto(struct spec *s, int64_t max);     /* returns the number of units taken */

/* A share may be used at one semaphore after the other.  Only the caller knows all semaphores. */
bool    spec_has_share(const struct spec *s, int share);    /* has the share requests in this queue? */
bool    spec_takes_shares(const struct spec *s);
void    spec_forget_share(struct spec *s, int share);       /* the share was used elsewhere, or is new */
void    spec_charge(struct spec *s, int share, int64_t n);
int     spec_shares(const struct spec *s);                  /* number of shares with requests in the queue */

/*
 * After each of these functions, after spec_leave(), and after spec_ask() has returned SPEC_WAITS, call
 * spec_next() until it returns NULL: requests may leave the queue.
 */
int     spec_release(struct spec *s, int64_t n);
bool    spec_regain(struct spec *s, const struct spec_request *granted);    /* were units lost? */
int     spec_consume(struct spec *s, int64_t n);
int     spec_set_capacity(struct spec *s, int64_t capacity);
int     spec_close(struct spec *s, int reason);
int     spec_close_to_drain(struct spec *s, const struct spec_request *r);

/* Return the front, or the request behind r (the front if r is NULL).  NULL if there is no such request. */
struct spec_request *spec_first(const struct spec *s);
struct spec_request *spec_behind(const struct spec *s, const struct spec_request *r);
void    spec_leave(struct spec *s, const struct spec_request *r);   /* dequeue the request, without a grant */
bool    spec_is_full(const struct spec *s);
/* May a request for n units barge?  (For how long is not specified here.) */
bool    spec_may_pass(const struct spec *s, int64_t n);
/*
 * Dequeue the next request that is refused or granted, and return it and its result; or NULL.  With a bypass
 * and `claims` none is granted: the caller lets the front take its units in a separate step.
 */
struct spec_request *spec_next(struct spec *s, bool claims, int *result);

/* The result of a claim of a ticket in this state, or of a wait for it.  SPEC_WAITS while the ticket waits. */
int     spec_ticket(enum fairsem_ticket_state state, int reason);
/*
 * The result of a close or a cancel.  If the result is 0, *reason becomes `given`, or `usual` if `given` is 0.
 */
int     spec_reason(int *reason, int given, int usual);

#endif
