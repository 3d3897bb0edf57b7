/* SPDX-License-Identifier: MIT */
/*
 * model.h - fairsem as a sequential program: the rules of ../spec/, and the other effects of each call.  It is
 * written from fairsem.h, not from the sources.
 */
#ifndef MODEL_H
#define MODEL_H

#include "../spec/spec.h"

/* A request of a ticket, or of a thread that waits or tries. */
struct model_request {
    struct spec_request ask;
    enum fairsem_ticket_state state;    /* CANCELED: left the queue for `reason` */
    int               reason;
    struct model_sem *sem;              /* the semaphore in whose queue the request is, or was last */
    int64_t           enqueued_ns;        /* when it joined the queue */
    bool              notify;           /* a ticket with a callback */
    int               due;              /* the call that must run the callback, or 0 */
    unsigned          due_order;        /* its place among the callbacks that the call must run */
    unsigned          called_by;        /* the set of threads that are in this callback */
};

struct model_sem {
    struct spec    now;
    bool           interruptible;
    fairsem_stat_t past;                /* the counters of waits that have ended */
    uint64_t       counts[FAIRSEM_WAIT_BUCKETS];
};

/* All semaphores; and the weights of shares 1, 2, ..., which are 0 for a destroyed share. */
extern struct model_sem *model_sems;
extern int model_sems_count, model_weight[SPEC_FLOWS];

/* A call that may wait, until it has returned. */
struct model_wait {
    struct model_request  own;          /* unless the call waits for a ticket */
    struct model_request *request;      /* &own, or the ticket */
    int                  *token;        /* the token's reason; may be NULL */
    bool                  over;         /* the call must return `result` */
    int                   result;
    struct model_wait    *older;
};

/* A reason to end a wait that is not an errno value. */
enum { MODEL_ABANDONED = -1 };

/* The time on CLOCK_MONOTONIC, and how far CLOCK_REALTIME is ahead of it. */
extern int64_t model_now_ns, model_ahead_ns;
bool model_passed(clockid_t clock, const struct timespec *deadline);

/* All waits that have not returned, newest first. */
extern struct model_wait *model_waits;

/* The number of the call in progress.  Calls within calls have higher numbers. */
extern int model_call;

/*
 * The call that must run callbacks that become pending now.  This is the call in progress; but if its thread is
 * in a callback, it is the call that runs this callback.
 */
extern int (*model_calls_back)(void);

/* The ticket whose callback must come next in this call, or NULL. */
struct model_request *model_next_due(struct model_request *all, int count);

/* Are the members of `how` valid?  The model's `how` has a deadline in place of a timeout. */
bool    model_valid_wait(const fairsem_wait_t *how);

int     model_init(struct model_sem *s, int64_t units, const fairsem_attr_t *attr);
int     model_release(struct model_sem *s, int64_t n);
/* After a change by a call, let requests leave the queue.  Returns `result`, the result of the call. */
int     model_settle(struct model_sem *s, int result);

/* Set the result if the call need not wait.  If it must wait, wait->over is false afterwards. */
void model_acquire(struct model_sem *s, struct model_wait *wait, int64_t n,
                   const fairsem_wait_t *how, int share, int *token);
void model_ticket_wait(struct model_request *ticket, struct model_wait *wait,
                       const fairsem_wait_t *how, int *token);
void model_wait_ends(struct model_wait *wait);
/* The wait is aborted by ETIMEDOUT, EINTR, or a cancellation (MODEL_ABANDONED). */
void model_abort(struct model_wait *wait, int reason);

/* Must a request with this share fail?
 * The share is destroyed, waits at another semaphore, or `s` takes no shares.
 */
bool model_share_refused(const struct model_sem *s, int share);
int  model_share_charge(int share, int64_t n);
int  model_share_destroy(int share);

int  model_token_cancel(int *token, int reason);
int  model_token_destroy(const int *token);

void model_stat(const struct model_sem *s, fairsem_stat_t *stat);

int  model_ticket_take(struct model_request *t, struct model_sem *s, int64_t n, int priority, int share,
                       bool notify);
int  model_ticket_return(struct model_request *t);
/* The caller knows whether the guard is empty. */
int  model_ticket_claim(struct model_request *t);

#endif
