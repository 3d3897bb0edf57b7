/* SPDX-License-Identifier: MIT */
/* model.c - see model.h.  Fairness is the line: nobody is served before who stands ahead. */
#include "model.h"

#include <string.h>

const struct op *op_of(int i)
{
    return &script[i / OPS_MAX][i % OPS_MAX];
}

int64_t result_of(int i)
{
    return run.call[i].result;
}

static int64_t units_of(int i)
{
    return op_of(i)->verb == GIVE ? run.call[i].n : op_of(i)->n;
}

/* Had that call returned when this one began? */
bool returned_before(int that, int this)
{
    return (run.call[this].after >> that & 1) != 0;
}

void model_init(struct model *m)
{
    memset(m, 0, sizeof *m);
    for (int s = 0; s < SEMS_MAX; s++) {
        m->sem[s].available = scenario->units;
        m->sem[s].limit = scenario->capacity != 0 ? scenario->capacity : FAIRSEM_MAX_UNITS;
    }
}

bool model_over(struct model *m, int i, int64_t result)
{
    m->phase[i] = OVER;
    return result_of(i) == result;
}

/* It leaves the line with a result; one that pthread_cancel ends in the same moment has none. */
static bool over_or_canceled(struct model *m, int i, int64_t result)
{
    m->phase[i] = OVER;
    return result_of(i) == result || result_of(i) == RESULT_CANCELED;
}

/* ---- The line ---- */

static void join(struct model_sem *s, int i)
{
    int at = s->length++;

    for (; at > 0 && op_of(s->line[at - 1])->priority > op_of(i)->priority; at--)
        s->line[at] = s->line[at - 1];
    s->line[at] = i;
}

void model_leave(struct model_sem *s, int i)
{
    int at = 0;

    while (s->line[at] != i)
        at++;
    s->length--;
    for (; at < s->length; at++)
        s->line[at] = s->line[at + 1];
}

static bool must_wait(const struct model_sem *s, int64_t n, int priority)
{
    return s->limit == 0 || n > s->available
           || (s->length > 0 && op_of(s->line[0])->priority <= priority);
}

/* A ticket leaves its line, or is returned; who watches it hears of it. */
bool model_tell_ticket(struct model *m, int t, enum fairsem_ticket_state state, int why)
{
    m->ticket[t] = state;
    m->why[t] = why;
    m->told_by[t] = m->now;
    for (int i = 0; i < CALLS; i++) {
        if (op_of(i)->verb == WATCH && op_of(i)->ticket == t && m->phase[i] == WAITS
            && !over_or_canceled(m, i, state == FAIRSEM_TICKET_GRANTED ? 0 : why))
            return false;
    }
    return true;
}

static bool grant(struct model *m, int i)
{
    if (op_of(i)->verb == TAKE)
        return model_tell_ticket(m, op_of(i)->ticket, FAIRSEM_TICKET_GRANTED, 0);
    if (result_of(i) == RESULT_CANCELED) {
        m->phase[i] = HAS;
        return true;
    }
    return model_over(m, i, 0);
}

bool model_serve(struct model *m, struct model_sem *s)
{
    while (s->length > 0 && s->limit != 0 && units_of(s->line[0]) <= s->available
           && (scenario->bypass_ns == 0 || op_of(s->line[0])->verb == TAKE)) {
        int head = s->line[0];

        s->available -= units_of(head);
        model_leave(s, head);
        if (!grant(m, head))
            return false;
    }
    return true;
}

/* Out of the line with all who ask for more than `most`. */
static bool refuse(struct model *m, struct model_sem *s, int64_t most, int state, int why)
{
    for (int at = 0; at < s->length;) {
        int i = s->line[at];

        if (units_of(i) <= most) {
            at++;
            continue;
        }
        model_leave(s, i);
        if (op_of(i)->verb == TAKE
                ? !model_tell_ticket(m, op_of(i)->ticket, (enum fairsem_ticket_state)state, why)
                : !over_or_canceled(m, i, why))
            return false;
    }
    return true;
}

/* ---- Tokens ---- */

/*
 * A token that is cancelled stops a call that begins later.  One that has begun it stops, or it
 * finds units, but it does not wait any more once the cancelling call has returned.
 */
static bool stopped_by_token(const struct model *m, int i, int way)
{
    const struct op *op = op_of(i);

    if (!op->token || op->verb == CANCEL || m->token == 0)
        return false;
    if (op->verb == WATCH && m->ticket[op->ticket] != FAIRSEM_TICKET_WAITING)
        return way == 1 && !returned_before(m->told_by[op->ticket], i);
    for (int other = 0; other < CALLS; other++) {
        if (returned_before(other, i) && op_of(other)->verb == CANCEL)
            return true;
    }
    return way == 1;
}

bool model_may_wait(const struct model *m, int i)
{
    return !op_of(i)->token || m->token == 0 || m->canceling;
}

/* ---- Steps ---- */

/* Acquire in all its forms, and a ticket's take: what is not served joins the line. */
bool model_ask(struct model *m, struct model_sem *s, int i, int refusal)
{
    const struct op *op = op_of(i);
    int priority = op->verb == TRY ? INT32_MAX : op->priority;

    if (s->closed != 0)
        return model_over(m, i, s->closed);
    if (op->n > s->limit && s->limit != 0)
        return model_over(m, i, E2BIG);
    if (!must_wait(s, op->n, priority)) {
        s->available -= op->n;
        m->phase[i] = OVER;
        return grant(m, i) && (op->verb != TAKE || result_of(i) == 0);
    }
    if (refusal != 0)
        return model_over(m, i, refusal);
    if (result_of(i) == ETIMEDOUT && !model_may_wait(m, i))
        return model_over(m, i, ETIMEDOUT);   /* its time was out when it came */
    join(s, i);
    m->phase[i] = WAITS;
    return model_may_wait(m, i);
}

static bool release(struct model *m, struct model_sem *s, int i)
{
    if (units_of(i) > s->limit - s->available)
        return model_over(m, i, EOVERFLOW);
    s->available += units_of(i);
    return model_serve(m, s) && model_over(m, i, 0);
}

/* A grant that nobody uses is given back; what no longer fits is gone. */
void model_regain(struct model_sem *s, int64_t n)
{
    int64_t room = s->limit - s->available;

    s->available += n <= room ? n : room > 0 ? room : 0;
}

static bool set_capacity(struct model *m, struct model_sem *s, int i)
{
    int64_t capacity = op_of(i)->n;

    s->available += capacity - s->limit;
    s->limit = capacity;
    if (capacity != 0 && !refuse(m, s, capacity, FAIRSEM_TICKET_CANCELED, E2BIG))
        return false;
    return model_serve(m, s) && model_over(m, i, 0);
}

static bool close_sem(struct model *m, struct model_sem *s, int i)
{
    if (s->closed != 0)
        return model_over(m, i, EALREADY);
    s->closed = ESHUTDOWN;
    return refuse(m, s, -1, FAIRSEM_TICKET_CLOSED, ESHUTDOWN) && model_over(m, i, 0);
}

/* The waiters are taken out one by one, in any order: each is a step of its own. */
static bool cancel(struct model *m, int i)
{
    if (m->phase[i] == BEFORE) {
        if (m->token != 0)
            return model_over(m, i, EALREADY);
        m->token = ECANCELED;
        m->canceling = true;
        m->phase[i] = WAITS;
        return true;
    }
    for (int other = 0; other < CALLS; other++) {
        if (op_of(other)->token && op_of(other)->verb != CANCEL && m->phase[other] == WAITS)
            return false;
    }
    m->canceling = false;
    return model_over(m, i, 0);
}

static bool take_upto(struct model *m, struct model_sem *s, int i)
{
    int64_t n = op_of(i)->n;

    if (s->closed != 0 || must_wait(s, 1, INT32_MAX))
        n = 0;
    else if (n > s->available)
        n = s->available;
    s->available -= n;
    return model_over(m, i, n);
}

/* It gives up, by the result that it has come to: its time, its token, a signal, its end. */
static bool give_up(struct model *m, struct model_sem *s, int i)
{
    const struct op *op = op_of(i);
    int64_t result = result_of(i);

    if (!(result == ETIMEDOUT && (op->verb == TIMED || op->verb == FOR || op->timed))
        && !(result == m->token && m->token != 0 && op->token)
        && result != EINTR && result != RESULT_CANCELED)
        return false;
    if (m->phase[i] == HAS)
        model_regain(s, op->n);
    else if (op->verb != WATCH)
        model_leave(s, i);
    m->phase[i] = OVER;
    return model_serve(m, s);
}

static bool step_strict(struct model *m, int i, int way)
{
    const struct op *op = op_of(i);
    struct model_sem *s = &m->sem[op->sem];

    m->now = i;
    if (m->phase[i] != BEFORE)
        return way == 0 && (op->verb == CANCEL ? cancel(m, i) : give_up(m, s, i));
    if (stopped_by_token(m, i, way))
        return model_over(m, i, m->token);
    if (way == 1)
        return false;
    switch (op->verb) {
    case ACQUIRE: case TIMED: case FOR:
        return model_ask(m, s, i, 0);
    case TRY:
        return model_ask(m, s, i, EAGAIN);
    case UPTO:
        return take_upto(m, s, i);
    case RELEASE: case GIVE:
        return release(m, s, i);
    case CLOSE:
        return close_sem(m, s, i);
    case CAPACITY:
        return set_capacity(m, s, i);
    case CONSUME:
        s->available -= op->n;
        return model_over(m, i, 0);
    case DESTROY:
        return model_over(m, i, s->length > 0 ? EBUSY : 0);
    case CANCEL:
        return cancel(m, i);
    case TAKE:
        return model_take(m, s, i);
    case CLAIM:
        return model_claim(m, i);
    case RETURN:
        return model_return(m, i);
    case WATCH:
        return model_watch(m, i);
    default:
        return model_over(m, i, 0);
    }
}

/*
 * FAIRSEM_BOUNDED_BYPASS: the head of the line comes for its units when it likes, and until
 * then others may take them.  (How long is for the oracles: a history has no times.)
 */
static bool step_past_the_line(struct model *m, int i)
{
    const struct op *op = op_of(i);
    struct model_sem *s = &m->sem[op->sem];
    int64_t n = op->n;

    if (scenario->bypass_ns == 0)
        return false;
    m->now = i;
    if (m->phase[i] == WAITS && op->verb <= TRY) {
        if (s->length == 0 || s->line[0] != i || s->limit == 0 || n > s->available)
            return false;
        s->available -= n;
        model_leave(s, i);
        return grant(m, i) && model_serve(m, s);
    }
    if (m->phase[i] != BEFORE || s->closed != 0 || s->limit == 0 || s->length == 0)
        return false;
    if (op->verb == UPTO) {
        if (s->available < 1)
            return false;
        n = n < s->available ? n : s->available;
        s->available -= n;
        return model_over(m, i, n);
    }
    if (op->verb > TRY || n > s->available || n == 0)
        return false;
    s->available -= n;
    return grant(m, i);
}

bool model_step(struct model *m, int i, int way)
{
    return way < 2 ? step_strict(m, i, way) : step_past_the_line(m, i);
}
