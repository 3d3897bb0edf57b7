/* SPDX-License-Identifier: MIT */
/*
 * model.h - the semaphore as a sequential program: what the results of a run are compared with.
 *
 * An operation takes effect in one step, or in two: it joins a queue, and later it leaves that,
 * because it is granted, which is another operation's step, or for a reason of its own.  The
 * results of the run are known beforehand; a step that contradicts them is no step.
 */
#ifndef XP_MODEL_H
#define XP_MODEL_H

#include "explore.h"

enum { MODEL_WAYS = 3 };

struct model_sem {
    int64_t available, limit;
    int     closed;
    int     length;
    int8_t  queue[CALLS];           /* calls, the head first */
};

struct model {
    struct model_sem sem[SEMS_MAX];
    int  token;                     /* the reason; 0: not canceled */
    bool canceling;                 /* it is canceled, and that has not returned */
    uint8_t phase[CALLS];           /* one of the enum below */
    enum fairsem_ticket_state ticket[THREADS_MAX];
    int  taken_by[THREADS_MAX];     /* the call that took this ticket */
    int  why[THREADS_MAX];          /* the reason, if it is neither waiting nor granted */
    int  ended_by[THREADS_MAX];      /* the call that ended its waiting; -1: it never waited */
    uint64_t heard[THREADS_MAX];    /* the calls that watched it and know of that, a set */
    int  now;                       /* the call that takes a step */
};
enum { BEFORE, ASKS, WAITS, HAS, OVER };

void model_init(struct model *m);

/*
 * The next step of call i, in one of MODEL_WAYS ways, where there are several.  False: there is no
 * such step now, or the results speak against it; then the model is no longer of use.
 */
bool model_step(struct model *m, int i, int way);

/* All calls are over that will ever be: is the model in the state that the semaphores are in? */
bool model_ends_well(const struct model *m);

/* ---- Between model.c, model_steps.c and model_tickets.c ---- */

const struct op *op_of(int i);
int64_t result_of(int i);
bool returned_before(int that, int this);   /* had that call returned when this one began? */

/* All these are false where the results speak against it. */
bool model_over(struct model *m, int i, int64_t result);
bool model_ask(struct model *m, struct model_sem *s, int i, int refusal);
bool model_grant_heads(struct model *m, struct model_sem *s);
bool model_grant(struct model *m, int i);
bool model_refuse(struct model *m, struct model_sem *s, int64_t most, int state, int why);
bool model_may_wait(const struct model *m, int i);
bool model_end_ticket(struct model *m, int t, enum fairsem_ticket_state state, int why);
bool model_take(struct model *m, struct model_sem *s, int i);
bool model_claim(struct model *m, int i);
bool model_return(struct model *m, int i);
bool model_returned(struct model *m, int i);
bool model_watch(struct model *m, int i);

int64_t model_units_of(int i);
void model_join(struct model_sem *s, int i);
void model_leave(struct model_sem *s, int i);
bool model_must_wait(const struct model_sem *s, int64_t n, int priority);
void model_regain(struct model_sem *s, int64_t n);
bool model_valid(int64_t n);

#endif
