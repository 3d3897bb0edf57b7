/* SPDX-License-Identifier: MIT */
/* steps.h - the steps: each reads its arguments from the input and does one thing. */
#ifndef STEPS_H
#define STEPS_H

#include "calls.h"

/* steps_sem.c: calls that return at once */
void step_tryacquire(void);
void step_upto(void);
void step_release(void);
void step_would_block(void);
void step_consume(void);
void step_set_capacity(void);
void step_close(void);
void step_dump(void);
void step_renew_sem(void);

/* steps_wait.c: calls that may wait, what ends the wait, time */
void step_acquire(void);
void step_acquire_for(void);
void step_acquire_until(void);
void step_acquire_with(void);
void step_with(void);
void step_token_cancel(void);
void step_renew_token(void);
void step_time_passes(void);
void step_clock_is_set(void);
void step_wish(void);

/* How to wait, from the input; `token` is one of world.token, or NO_TOKEN. */
enum { NO_TOKEN = -1 };
struct step_how {
    fairsem_wait_t  how;            /* the model's, which has only deadlines */
    fairsem_wait_t  given;          /* the library's */
    const fairsem_wait_t *arg;      /* &given, or NULL */
    struct timespec deadline;
    int             token;
};
void step_how(struct step_how *step);
void step_say_how(const struct step_how *step);
struct model_token *step_model_token(const struct step_how *step);

/* steps_all.c: several semaphores at once */
void step_acquire_all(void);
void step_release_all(void);

/* steps_ticket.c */
void step_ticket_take(void);
void step_ticket_return(void);
void step_ticket_claim(void);
void step_ticket_wait(void);

/* steps_units.c: guards */
void step_units_acquire(void);
void step_units_tryacquire(void);
void step_units_adopt(void);
void step_units_release(void);
void step_units_return(void);
void step_units_split(void);
void step_units_merge(void);
void step_units_forget(void);

#endif
