/* SPDX-License-Identifier: MIT */
/* steps.h - the steps of the input: operations of the language, and a few of the fuzzer alone. */
#ifndef STEPS_H
#define STEPS_H

#include "../../scenarios/language.h"
#include "threads.h"
#include "words.h"
#include "world.h"

/* After the verbs of the language. */
enum {
    ACQUIRE_WITH = VERBS, GUARD_ACQUIRE, GUARD_TRY, GUARD_ADOPT, GUARD_RELEASE, GUARD_RETURN,
    GUARD_SPLIT, GUARD_MERGE, GUARD_FORGET, NO_CALL
};
enum { A_GUARD = 32, TWO_GUARDS = 64 };     /* see verb_row.of */

/* How a call waits. */
enum { NO_TOKEN = -1 };
struct step_how {
    fairsem_wait_t  how;            /* the model's, which has only deadlines */
    fairsem_wait_t  given;          /* the library's */
    const fairsem_wait_t *arg;      /* &given, or NULL */
    struct timespec deadline;
    int             token, share;   /* NO_TOKEN; 0 for none */
};

struct step {
    int             verb;
    const struct verb_row *row;
    unsigned        of;             /* the set of objects that the step is called with */
    struct op       op;             /* op.sem is NO_SEM if the step has no semaphore */
    int             token, guard, second;
    struct step_how wait;
};

/* steps.c */
void step_close(int sem);
void step_any(void);            /* the next step of the input */
/* Run the whole input, from new semaphores to their end.  A difference from the model is a finding(). */
void sequence_run(const uint8_t *data, size_t size);

/* how.c: draw the parameters of a wait */
int  step_any_share(int b);     /* mostly 0, for none */
void step_any_how(struct step_how *step);
void step_draw_how(struct step *step);
void step_say_how(const struct step_how *step);
int *step_model_token(const struct step_how *step);

/* others.c, several.c: steps that are not one call */
void step_with(void);
void step_dump(void);
void step_renew_sem(void);
void step_renew_token(void);
void step_renew_share(void);
void step_time_passes(void);
void step_clock_is_set(void);
void step_wish(void);
void step_acquire_all(void);
void step_release_all(void);

/* ---- checks.c: around each call of the library, and the callback ---- */

enum { CALL_ERRNO = 4711 };     /* errno before each call, which must not change it */

struct call {
    int line, sem, ticket;
    struct thread_call outer;
};

/* Before a call, which `line` of the record describes.
 * After this the model makes the call, then the library.
 */
void call_begin(struct call *call, int line, int sem, int ticket);
/* The call may wait; the model sets its result in *wait now or later. */
void call_may_wait(struct model_wait *wait, const fairsem_wait_t *how);
/* The call has returned `result`.  Returns the correct result. */
int  call_waited(const struct call *call, struct model_wait *wait, int64_t result);
/* The call has returned: its result, and everything observable, must agree with the model. */
void call_end(struct call *call, int64_t result, int64_t expected);
/* Check the result of a call within a call. */
void call_result(int line, int64_t result, int64_t expected);

/* The callback of all tickets; `arg` points to the ticket's place in world.ticket. */
void call_back(fairsem_ticket_t *ticket, void *arg);

/* Are calls nested too deep for another one? */
bool calls_deep(void);

#endif
