/* SPDX-License-Identifier: MIT */
/* steps.c - draws operations, and makes each operation on the library and on the model. */
#include "steps.h"

#include "../../scenarios/calls.h"
#include "bytes.h"
#include "machine.h"

#include <errno.h>
#include <stdlib.h>

/*
 * The frequency of each step: how many of the 256 values of a byte stand for it.  `row` says how a step is
 * drawn, like the rows of verbs.  The meaning of the corpus depends on this table: after a change, make the
 * corpus again (make fuzz).
 */
static const struct kind {
    int    weight;
    int    verb;
    struct verb_row row;        /* of a verb that is not in the language */
    void (*step)(void);         /* for steps that are not one call */
} kinds[] = {
#define CALL(weight, verb) { weight, verb, { .word = NULL }, NULL }
#define OWN(weight, verb, ...) { weight, verb, { __VA_ARGS__ }, NULL }
#define STEP(weight, step) { weight, NO_CALL, { .word = NULL }, step }
    CALL(34, TAKE), CALL(16, RETURN), CALL(12, CLAIM), CALL(8, WATCH), CALL(28, RELEASE), CALL(8, TRY),
    CALL(7, UPTO), CALL(8, ACQUIRE), CALL(8, FOR), CALL(6, TIMED),
    OWN(18, ACQUIRE_WITH, "acquire_with", .of = A_SEM, .number = UNITS, .waits = true),
    STEP(8, step_with),
    OWN(6, GUARD_ACQUIRE, "guard_acquire", .of = A_GUARD | A_SEM, .number = UNITS, .waits = true,
        .units = TAKES),
    OWN(4, GUARD_TRY, "guard_try", .of = A_GUARD | A_SEM, .number = UNITS, .units = TAKES),
    OWN(3, GUARD_ADOPT, "guard_adopt", .of = A_GUARD | A_SEM, .number = UNITS, .units = TAKES),
    OWN(5, GUARD_RELEASE, "guard_release", .of = A_GUARD),
    OWN(4, GUARD_RETURN, "guard_return", .of = A_GUARD, .number = UNITS),
    OWN(3, GUARD_SPLIT, "guard_split", .of = A_GUARD | TWO_GUARDS, .number = UNITS),
    OWN(3, GUARD_MERGE, "guard_merge", .of = A_GUARD | TWO_GUARDS),
    OWN(1, GUARD_FORGET, "guard_forget", .of = A_GUARD),
    CALL(5, CONSUME), CALL(9, CAPACITY), CALL(2, CLOSE), CALL(4, WOULD),
    STEP(1, step_dump), STEP(5, step_renew_sem),
    CALL(6, CANCEL),
    STEP(4, step_renew_token), STEP(6, step_time_passes), STEP(2, step_clock_is_set),
    STEP(6, step_acquire_all), STEP(2, step_release_all), STEP(10, step_wish),
    CALL(2, CHARGE), STEP(2, step_renew_share),
};

/* ---- Drawing ---- */

static struct step new_step(int verb, const struct verb_row *row)
{
    return (struct step){
        .verb = verb, .row = row, .of = row->of | (verb == CLAIM ? A_GUARD : 0),
        .op = { .verb = verb < VERBS ? (enum verb)verb : NO_VERB, .sem = NO_SEM },
        .wait = { .token = NO_TOKEN },
    };
}

static void draw(struct step *step)
{
    const unsigned of = step->of;
    struct op *op = &step->op;

    if ((of & A_TICKET) != 0) {
        op->ticket = below(TICKETS);
        op->sem = world_sem_of(op->ticket);
    }
    if ((of & A_GUARD) != 0)
        step->guard = below(GUARDS);
    if ((of & TWO_GUARDS) != 0)
        step->second = below(GUARDS);
    if ((of & A_SEM) != 0)
        op->sem = below(SEMS);
    if ((of & A_TOKEN) != 0)
        step->token = below(TOKENS);
    if ((of & A_SHARE) != 0)
        op->share = 1 + below(SHARES);
    if (step->verb == TAKE)
        op->priority = priority();
    if (step->row->number == UNITS)
        op->n = units();
    else if (step->row->number == OPTIONAL)
        op->n = reason();
    if (step->row->waits)
        step_draw_how(step);
    if (step->verb == TAKE) {
        uint8_t odd = byte();

        op->calls = odd % 4 != 0;
        op->callback = odd / 4 % 3;     /* the number of its steps */
        op->share = step_any_share(odd / 12);
    }
}

static int say(const struct step *step)
{
    const struct op *op = &step->op;
    int line = SAY_(step->row->word, "nstkgGpch", op->n, op->sem, op->ticket, step->token, step->guard,
                    step->second, op->priority, op->calls, op->share);

    if (step->row->waits)
        step_say_how(&step->wait);
    return line;
}

/* ---- The model's result ---- */

static int model_return(struct model_guard *g, int64_t n)
{
    int error;

    if (n < 0 || n > g->n)
        return EINVAL;
    if (n == 0)
        return 0;
    error = model_release(&world.model_sem[g->sem], n);
    if (error == 0)
        g->n -= n;
    return error;
}

static int model_split(struct model_guard *from, struct model_guard *into, int64_t n)
{
    if (from == into || n < 0 || n > from->n)
        return EINVAL;
    if (into->n != 0)
        return EBUSY;
    *into = (struct model_guard){ from->sem, n };
    from->n -= n;
    return 0;
}

static int model_merge(struct model_guard *into, struct model_guard *from)
{
    if (into == from)
        return EINVAL;
    if (from->n == 0)
        return 0;
    if ((into->n != 0 && into->sem != from->sem) || into->n > FAIRSEM_MAX_UNITS - from->n)
        return EINVAL;
    *into = (struct model_guard){ from->sem, into->n + from->n };
    from->n = 0;
    return 0;
}

static int64_t model_forget(struct model_guard *g)
{
    int64_t n = g->n;

    g->n = 0;
    return n;
}

/* Does the step put units into a guard, which must be empty? */
static bool fills(const struct step *step)
{
    return (step->of & A_GUARD) != 0 && (step->row->units == TAKES || step->row->units == CLAIMS);
}

static int64_t expected_of(const struct step *step)
{
    const int64_t n = step->op.n;
    struct model_sem *s = step->op.sem != NO_SEM ? &world.model_sem[step->op.sem] : NULL;
    struct model_request *t = &world.model_ticket[step->op.ticket];
    struct model_guard *g = &world.model_guard[step->guard], *second = &world.model_guard[step->second];

    if (fills(step) && g->n != 0)
        return EBUSY;
    switch (step->verb) {
    case TAKE:          return model_ticket_take(t, s, n, step->op.priority, step->op.share,
                                                      step->op.calls);
    case CLAIM:         return model_ticket_claim(t);
    case RETURN:        return model_ticket_return(t);
    case RELEASE:       return model_release(s, n);
    case UPTO:          return spec_upto(&s->now, n);
    case CONSUME:       return spec_consume(&s->now, n);
    case CAPACITY:      return model_settle(s, spec_set_capacity(&s->now, n));
    case CLOSE:         return model_settle(s, spec_close(&s->now, (int)n));
    case WOULD:         return spec_would_block(&s->now, n);
    case CHARGE:        return model_share_charge(step->op.share, n);
    case CANCEL:        return model_token_cancel(&world.model_token[step->token], (int)n);
    case TRY:
    case GUARD_TRY:     return spec_try(&s->now, n);
    case GUARD_ADOPT:   return spec_valid(n) ? 0 : EINVAL;
    case GUARD_RELEASE: return model_return(g, g->n);
    case GUARD_RETURN:  return model_return(g, n);
    case GUARD_SPLIT:   return model_split(g, second, n);
    case GUARD_MERGE:   return model_merge(g, second);
    case GUARD_FORGET:  return model_forget(g);
    default:            finding("the model has no %s", step->row->word);
    }
}

static void expect_wait(const struct step *step, struct model_wait *wait)
{
    const fairsem_wait_t *how = &step->wait.how;
    int *token = step_model_token(&step->wait);

    call_may_wait(wait, how);
    if (fills(step) && world.model_guard[step->guard].n != 0)
        *wait = (struct model_wait){ .over = true, .result = EBUSY };
    else if (step->verb == WATCH)
        model_ticket_wait(&world.model_ticket[step->op.ticket], wait, how, token);
    else
        model_acquire(&world.model_sem[step->op.sem], wait, step->op.n, how, step->wait.share, token);
}

/* ---- The library's result ---- */

static int64_t result_of(const struct step *step)
{
    const struct op *op = &step->op;
    fairsem_t *s = op->sem != NO_SEM ? world.sem[op->sem] : NULL;
    fairsem_ticket_t **t = &world.ticket[op->ticket];
    fairsem_units_t *g = &world.guard[step->guard], *second = &world.guard[step->second];
    const struct parameters with = {
        .sem = s, .ticket = *t, .token = world.token[step->token], .guard = g,
        .how = step->wait.arg, .at = step->wait.how.deadline,
        .timeout_ns = step->wait.given.timeout_ns, .callback = call_back, .arg = t,
        .share = op->share != 0 ? world.share[op->share] : NULL,
    };

    switch (step->verb) {
    case ACQUIRE_WITH:  return fairsem_acquire_with(s, op->n, with.how);
    case GUARD_ACQUIRE: return fairsem_units_acquire(g, s, op->n, with.how);
    case GUARD_TRY:     return fairsem_units_tryacquire(g, s, op->n);
    case GUARD_ADOPT:   return fairsem_units_adopt(g, s, op->n);
    case GUARD_RELEASE: return fairsem_units_release(g);
    case GUARD_RETURN:  return fairsem_units_return(g, op->n);
    case GUARD_SPLIT:   return fairsem_units_split(g, op->n, second);
    case GUARD_MERGE:   return fairsem_units_merge(g, second);
    case GUARD_FORGET:  return fairsem_units_forget(g);
    default:            return result_of_call(op, &with);
    }
}

/* ---- Both ---- */

/*
 * Only one call at a time may use a guard.  No call may wait for a thread that goes on only after this one: so
 * no return of a ticket whose callback runs in another thread.
 */
static bool is_possible(const struct step *step)
{
    const unsigned called_by = world.model_ticket[step->op.ticket].called_by;

    return (!step->row->waits || thread_may_sleep())
           && ((step->of & A_GUARD) == 0 || !world.busy.guard[step->guard])
           && ((step->of & TWO_GUARDS) == 0 || !world.busy.guard[step->second])
           && (step->verb != RETURN || (called_by & ~(1u << thread_running())) == 0);
}

static bool watched(int t)
{
    for (const struct model_wait *wait = model_waits; wait != NULL; wait = wait->older) {
        if (wait->request == &world.model_ticket[t])
            return true;
    }
    return false;
}

/* Free the ticket's memory at once, unless another call uses it. */
static void ticket_is_free(int t)
{
    if (world.busy.ticket[t] == 0 && !watched(t) && world.model_ticket[t].state == FAIRSEM_TICKET_IDLE
        && world.model_ticket[t].due == 0)
        world.ticket[t] = world_renew(world.ticket[t], sizeof(fairsem_ticket_t));
}

static void perform(const struct step *step)
{
    const struct op *op = &step->op;
    struct model_wait wait = { .over = false };
    struct call call;
    int64_t result, expected = 0;

    if (!is_possible(step))
        return;
    /* A thread that the release has granted may destroy the semaphore before the release returns. */
    call_begin(&call, say(step), step->verb == RELEASE ? NO_SEM : op->sem,
               (step->of & A_TICKET) != 0 ? op->ticket : NO_TICKET);
    if ((step->of & A_GUARD) != 0)
        world.busy.guard[step->guard] = true;
    if (step->verb == TAKE && world.model_ticket[op->ticket].state == FAIRSEM_TICKET_IDLE)
        world.callback_steps[op->ticket] = op->callback;
    if (step->row->waits)
        expect_wait(step, &wait);
    else
        expected = expected_of(step);
    result = result_of(step);
    if (step->row->waits)
        expected = call_waited(&call, &wait, result);
    if ((step->of & A_GUARD) != 0)
        world.busy.guard[step->guard] = false;
    if (fills(step) && expected == 0)
        world.model_guard[step->guard] = (struct model_guard){
            op->sem, step->verb == CLAIM ? world.model_ticket[op->ticket].ask.units : op->n
        };
    call_end(&call, result, expected);
    if (step->verb == RETURN)
        ticket_is_free(op->ticket);
}

void step_close(int sem)
{
    struct step step = new_step(CLOSE, &verbs[CLOSE]);

    step.op.sem = sem;
    perform(&step);
}

/* The kind of step that a byte stands for. */
static const struct kind *kind_of(int at)
{
    int sum = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        sum += kinds[i].weight;
        if (at < sum)
            return &kinds[i];
    }
    fprintf(stderr, "the weights add up to %d, not to 256\n", sum);
    exit(2);
}

void step_any(void)
{
    const struct kind *kind = kind_of(byte());
    struct step step;

    if (kind->step != NULL) {
        kind->step();
        return;
    }
    step = new_step(kind->verb, kind->verb < VERBS ? &verbs[kind->verb] : &kind->row);
    draw(&step);
    perform(&step);
}

void sequence_run(const uint8_t *data, size_t size)
{
    machine_on = true;
    bytes_are(data, size);
    thread_reset();
    words_begin(data, size);
    model_now_ns = INT64_C(1000000000000);
    model_ahead_ns = INT64_C(500000000000000);
    model_waits = NULL;
    model_call = 0;
    model_calls_back = thread_calls_back;
    world_begin();
    while (!bytes_end()) {
        thread_wish = NOT_YET;
        thread_run(step_any);
    }
    world_end();
    machine_on = false;
}
