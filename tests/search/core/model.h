/* SPDX-License-Identifier: MIT */
/*
 * model.h - the semaphores of ../spec/, with whose results history.c compares the results of a run.
 *
 * A call takes effect in one step, or in several: a call that waits enqueues its request in its first step, and
 * a later step, of another call or of its own, ends the wait.  The run is over before the model starts: its
 * results are known, and only steps that agree with them are made.
 */
#ifndef XP_MODEL_H
#define XP_MODEL_H

#include "../spec/spec.h"
#include "explorer.h"

/*
 * The ways of a step: 0 is the usual way.  1 is the other outcome of a race, with a cancel of the token or with
 * a share that moves to another semaphore.  2 is barging.  3 is the passing of time, by which a request ages.
 */
enum { MODEL_WAYS = 4 };

struct model {
    struct spec sem[SEMS_MAX];
    int  token;                     /* the reason, or 0 if not canceled */
    bool canceling;                 /* a call is canceling the token, and has not returned */
    uint8_t phase[CALLS];           /* one of the enum below */
    enum fairsem_ticket_state ticket[THREADS];
    int  taken_by[THREADS];     /* the call that took this ticket */
    int  why[THREADS];          /* why the ticket's wait ended without a grant; see model_return() */
    int  ended_by[THREADS];      /* the call that ended the ticket's wait, or -1 if no call has */
    uint64_t heard[THREADS];    /* the calls that know that the ticket no longer waits: a set */
    bool had_callback[THREADS]; /* a take of this ticket had a callback */
    uint64_t before_callbacks;      /* the returns of tickets that had had no callback: a set */
    bool share_dead[SHARES];
    int  now;                       /* the call that makes the current step */
};

/*
 * BEFORE    the call has made no step
 * CHECKED   its share has been checked
 * ASKS      a drain has closed, and has not asked for units
 * WAITS     for units or for a ticket; a cancel has not resolved all waiters; the units of a return are not
 * free HAS       granted, but pthread_cancel ends the thread; a return only waits for the callback
 */
enum { BEFORE, CHECKED, ASKS, WAITS, HAS, OVER };

void model_init(struct model *m);

/*
 * Make the next step of call i, in this way.  Returns false if there is no such step, or if it contradicts the
 * results: then the model must not be used again.
 */
bool model_step(struct model *m, int i, int way);

/* After all calls: is the model in the same state as the semaphores? */
bool model_ends_well(const struct model *m);

/* The numbers that model_ends_well() compares; also a part of the histories of history.c. */
enum { END_NUMBERS = 4 };
void model_end_of(int sem, int64_t number[END_NUMBERS]);

/* ---- Between model.c, model_steps.c and model_tickets.c ---- */

extern struct spec_request model_request[CALLS];    /* of each call */
int64_t result_of(int i);

bool model_overlap(int a, int b);   /* Do the calls overlap?  b must have begun. */

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
