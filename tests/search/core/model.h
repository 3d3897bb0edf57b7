/* SPDX-License-Identifier: MIT */
/*
 * model.h - the semaphores of ../spec/, with which the results of a run are compared.
 *
 * An operation takes effect in one step, or in two: it joins a queue, and leaves it later, either because a
 * step of another operation grants it, or for a reason of its own.  The results of the run are known before,
 * and only steps that agree with them are possible.
 */
#ifndef XP_MODEL_H
#define XP_MODEL_H

#include "../spec/spec.h"
#include "explorer.h"

enum { MODEL_WAYS = 4 };

struct model {
    struct spec sem[SEMS_MAX];
    int  token;                     /* the reason, or 0 if not canceled */
    bool canceling;                 /* a call is canceling it, and has not returned */
    uint8_t phase[CALLS];           /* one of the enum below */
    enum fairsem_ticket_state ticket[THREADS];
    int  taken_by[THREADS];     /* the call that took this ticket */
    int  why[THREADS];          /* the reason of a ticket that neither waits nor is granted */
    int  ended_by[THREADS];      /* the call that ended its wait, or -1 if it never waited */
    uint64_t heard[THREADS];    /* the calls that know that it no longer waits, a set */
    bool had_callback[THREADS]; /* a take of this ticket had a callback */
    uint64_t before_callbacks;      /* the returns before that take, a set */
    bool share_dead[SHARES];
    int  now;                       /* the call that takes a step */
};
enum { BEFORE, CHECKED, ASKS, WAITS, HAS, OVER };

void model_init(struct model *m);

/*
 * Make the next step of call i, in one of MODEL_WAYS ways if there are several.  Returns false if there is no
 * such step now, or if it contradicts the results; the model cannot be used after that.
 */
bool model_step(struct model *m, int i, int way);

/* After all calls: is the model in the same state as the semaphores? */
bool model_ends_well(const struct model *m);

/* The numbers that it compares, which are a part of the histories of history.c. */
enum { END_NUMBERS = 4 };
void model_end_of(int sem, int64_t number[END_NUMBERS]);

/* ---- Between model.c, model_steps.c and model_tickets.c ---- */

extern struct spec_request model_request[CALLS];    /* of each call */
int64_t result_of(int i);

bool model_overlap(int a, int b);   /* of two calls, of which b has begun */

/* These return false if the results contradict the step. */
bool model_over(struct model *m, int i, int64_t result);
bool model_ask(struct model *m, struct spec *s, int i, int refusal);
bool model_settle(struct model *m, struct spec *s, bool claims);
bool model_grant(struct model *m, int i);
bool model_may_wait(const struct model *m, int i);
bool model_end_ticket(struct model *m, int t, enum fairsem_ticket_state state, int why);
bool model_take(struct model *m, struct spec *s, int i);
bool model_claim(struct model *m, int i);
bool model_return(struct model *m, int i);
bool model_returned(struct model *m, int i);
bool model_watch(struct model *m, int i);
bool model_ticket_state(struct model *m, int i);
bool model_inspect(struct model *m, const struct spec *s, int i, int64_t result);

#endif
