/* SPDX-License-Identifier: MIT */
/* model_steps.c - the steps of each operation except those of tickets, see model.h. */
#include "model.h"

/* ---- Tokens ---- */

/*
 * A canceled token stops a call that begins later.  A call that has begun is stopped, or finds
 * units, but it does not wait any more once the canceling call has returned.
 */
static bool stopped_by_token(const struct model *m, int i, int way)
{
    const struct op *op = op_of(i);

    if (!op->token || op->verb == CANCEL || m->token == 0)
        return false;
    if (op->verb == WATCH && m->ticket[op->ticket] != FAIRSEM_TICKET_WAITING)
        return way == 1 && !returned_before(m->ended_by[op->ticket], i);
    if (scenario->canceled != 0)
        return true;
    for (int k = 0; k < places; k++) {
        if (returned_before(place[k], i) && op_of(place[k])->verb == CANCEL
            && result_of(place[k]) == 0)
            return true;
    }
    return way == 1;
}

static bool is_timed(const struct op *op)
{
    return op->verb == TIMED || op->verb == FOR || op->timed;
}

bool model_may_wait(const struct model *m, int i)
{
    return !op_of(i)->token || m->token == 0 || m->canceling;
}

/* ---- Steps ---- */

/*
 * After a release of units that nobody held more units may be free than the capacity, see
 * may_know_old_limit().  The fast path does not load the capacity, and takes them.
 */
static bool passes_the_limit(const struct model_sem *s, int i)
{
    return result_of(i) == 0 && op_of(i)->n <= s->available && s->length == 0;
}

/* Acquire in all its forms, and a ticket's take: a request that is not granted joins the queue. */
bool model_ask(struct model *m, struct model_sem *s, int i, int refusal)
{
    const struct op *op = op_of(i);
    int priority = op->verb == TRY ? INT32_MAX : op->priority;

    if (s->closed != 0 && op->verb != DRAIN)
        return model_over(m, i, s->closed);
    if (op->n > s->limit && s->limit != 0 && !passes_the_limit(s, i))
        return model_over(m, i, E2BIG);
    if (!model_must_wait(s, op->n, priority)) {
        if (op->verb != DRAIN)
            s->available -= op->n;
        m->phase[i] = OVER;
        return model_grant(m, i) && (op->verb != TAKE || result_of(i) == 0);
    }
    if (refusal != 0)
        return model_over(m, i, refusal);
    if (scenario->max_waiters != 0 && s->length >= scenario->max_waiters)
        /* Its deadline had passed before it came, or the queue is full. */
        return model_over(m, i, result_of(i) == ETIMEDOUT && is_timed(op) ? ETIMEDOUT : ENOBUFS);
    if (result_of(i) == ETIMEDOUT && is_timed(op) && !model_may_wait(m, i))
        return model_over(m, i, ETIMEDOUT);   /* its deadline had passed before it came */
    model_join(s, i);
    m->phase[i] = WAITS;
    return model_may_wait(m, i);
}

/*
 * Is it a release that may have loaded the capacity before another call changed it?  Without the
 * mutex it may then succeed; but only with units that no thread held, see fairsem_set_capacity().
 */
static bool may_know_old_limit(const struct model_sem *s, int i)
{
    int64_t most = scenario->capacity;
    bool changes = false;

    for (int k = 0; k < places; k++) {
        const struct op *op = op_of(place[k]);

        if (op->verb != CAPACITY || op->sem != op_of(i)->sem || run.call[place[k]].phase == NOT_YET
            || returned_before(i, place[k]))
            continue;
        most = op->n > most ? op->n : most;
        changes = changes || !returned_before(place[k], i);
    }
    return changes && result_of(i) == 0 && model_units_of(i) <= most - s->available;
}

static bool release(struct model *m, struct model_sem *s, int i)
{
    if (op_of(i)->verb == GIVE && model_units_of(i) == 0)
        return model_over(m, i, 0);     /* it has made no call */
    if (model_units_of(i) > s->limit - s->available && !may_know_old_limit(s, i))
        return model_over(m, i, EOVERFLOW);
    s->available += model_units_of(i);
    return model_grant_heads(m, s) && model_over(m, i, 0);
}

static bool set_capacity(struct model *m, struct model_sem *s, int i)
{
    int64_t capacity = op_of(i)->n;

    if (scenario->capacity == 0 || !model_valid(capacity))
        return model_over(m, i, EINVAL);
    s->available += capacity - s->limit;
    s->limit = capacity;
    if (capacity != 0 && !model_refuse(m, s, capacity, FAIRSEM_TICKET_CANCELED, E2BIG))
        return false;
    return model_grant_heads(m, s) && model_over(m, i, 0);
}

static bool close_sem(struct model *m, struct model_sem *s, int i)
{
    int reason = op_of(i)->n != 0 ? (int)op_of(i)->n : ESHUTDOWN;

    if (reason < 0)
        return model_over(m, i, EINVAL);
    if (s->closed != 0)
        return model_over(m, i, EALREADY);
    s->closed = reason;
    return model_refuse(m, s, -1, FAIRSEM_TICKET_CLOSED, reason) && model_over(m, i, 0);
}

/* A drain closes, and then asks for units in a separate step. */
static bool close_to_drain(struct model *m, struct model_sem *s, int i)
{
    int64_t n = op_of(i)->n;

    if (!model_valid(n))
        return model_over(m, i, EINVAL);
    if (n > s->limit && s->limit != 0)
        return model_over(m, i, E2BIG);
    m->phase[i] = ASKS;
    if (s->closed != 0)
        return true;
    s->closed = ESHUTDOWN;
    return model_refuse(m, s, -1, FAIRSEM_TICKET_CLOSED, ESHUTDOWN);
}

static bool consume(struct model *m, struct model_sem *s, int i)
{
    int64_t n = op_of(i)->n;

    if (!model_valid(n))
        return model_over(m, i, EINVAL);
    if (s->available - n < -FAIRSEM_MAX_UNITS)
        return model_over(m, i, EOVERFLOW);
    s->available -= n;
    return model_over(m, i, 0);
}

/* The waiters are taken out one by one, in any order, each in a separate step. */
static bool cancel(struct model *m, int i)
{
    if (m->phase[i] == BEFORE) {
        if (op_of(i)->n < 0)
            return model_over(m, i, EINVAL);
        if (m->token != 0)
            return model_over(m, i, EALREADY);
        m->token = op_of(i)->n != 0 ? (int)op_of(i)->n : ECANCELED;
        m->canceling = true;
        m->phase[i] = WAITS;
        return true;
    }
    for (int k = 0; k < places; k++) {
        const struct op *other = op_of(place[k]);

        if (other->token && other->verb != CANCEL && m->phase[place[k]] == WAITS)
            return false;
    }
    m->canceling = false;
    return model_over(m, i, 0);
}

static bool take_upto(struct model *m, struct model_sem *s, int i)
{
    int64_t n = op_of(i)->n;

    if (n < 0 || s->closed != 0 || model_must_wait(s, 1, INT32_MAX))
        n = 0;
    else if (n > s->available)
        n = s->available;
    s->available -= n;
    return model_over(m, i, n);
}

/* Which call is canceling the token?  It has not returned. */
static int canceler(const struct model *m)
{
    for (int k = 0; k < places; k++) {
        if (op_of(place[k])->verb == CANCEL && m->phase[place[k]] == WAITS)
            return place[k];
    }
    return m->now;
}

/* The wait is aborted as its result says: by time, token, signal or pthread_cancel. */
static bool abort_wait(struct model *m, struct model_sem *s, int i)
{
    const struct op *op = op_of(i);
    int64_t result = result_of(i);

    if (!(result == ETIMEDOUT && is_timed(op))
        && !(result == m->token && m->token != 0 && op->token)
        && !(result == EINTR && scenario->signals > 0) && result != RESULT_CANCELED)
        return false;
    if (m->phase[i] == HAS && op->verb != DRAIN)
        model_regain(s, op->n);
    else if (m->phase[i] != HAS && op->verb != WATCH)
        model_leave(s, i);
    m->phase[i] = OVER;
    if (op->token && result == m->token && m->canceling)
        m->now = canceler(m);   /* which completes it, and only then grants to those behind it */
    return model_grant_heads(m, s);
}

/*
 * FAIRSEM_BOUNDED_BYPASS: until the head of the queue claims, others may take the units, but not
 * while a ticket is in the queue.
 */
static bool may_pass(const struct model_sem *s, int64_t n)
{
    return scenario->bypass_ns != 0 && s->length > 0 && s->closed == 0 && s->limit != 0 && n > 0
           && n <= s->available && !model_has_ticket(s);
}

/* Would a try have to wait?  With a bypass it need not while the head has yet to claim. */
static bool would_block(struct model *m, struct model_sem *s, int i)
{
    int64_t n = op_of(i)->n;
    bool would = model_valid(n) && s->closed == 0 && (n <= s->limit || s->limit == 0)
                 && model_must_wait(s, n, INT32_MAX);

    if (would && may_pass(s, n))
        would = result_of(i) != 0;
    return model_inspect(m, s, i, would);
}

static bool step_strict(struct model *m, int i, int way)
{
    const struct op *op = op_of(i);
    struct model_sem *s = &m->sem[op->sem];

    m->now = i;
    if (m->phase[i] == BEFORE && op->verb == DRAIN)
        return way == 0 && close_to_drain(m, s, i);
    if (m->phase[i] != BEFORE && op->verb == RETURN)
        return way == 0 && model_returned(m, i);
    if (m->phase[i] != BEFORE && m->phase[i] != ASKS)
        return way == 0 && (op->verb == CANCEL ? cancel(m, i) : abort_wait(m, s, i));
    if ((op->verb <= TRY || op->verb == RELEASE || op->verb == TAKE) && !model_valid(op->n))
        return way == 0 && model_over(m, i, EINVAL);
    if (stopped_by_token(m, i, way))
        return model_over(m, i, m->token);
    if (way == 1)
        return false;
    switch (op->verb) {
    case ACQUIRE: case TIMED: case FOR: case DRAIN:
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
        return consume(m, s, i);
    case DESTROY:
        return model_over(m, i, s->length > 0 ? EBUSY : 0);
    case WOULD:
        return would_block(m, s, i);
    case STAT:
        return model_inspect(m, s, i, s->available * 16 + s->length);
    case AVAILABLE:
        return model_inspect(m, s, i, s->available * 16);
    case WAITERS:
        return model_inspect(m, s, i, s->length);
    case SIZE:
        return model_inspect(m, s, i, (scenario->capacity != 0 ? s->limit : -1) * 16);
    case IS_CLOSED:
        return model_inspect(m, s, i, s->closed);
    case STATE:
        return model_ticket_state(m, i);
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

/* The head of the queue may claim at any time.  (For how long it may be passed is in waiters.c.) */
static bool step_past_the_queue(struct model *m, int i)
{
    const struct op *op = op_of(i);
    struct model_sem *s = &m->sem[op->sem];
    int64_t n = op->n;

    if (scenario->bypass_ns == 0)
        return false;
    m->now = i;
    if (m->phase[i] == WAITS && op->verb <= TRY) {
        if (s->length == 0 || s->queue[0] != i || s->limit == 0 || n > s->available)
            return false;
        s->available -= n;
        model_leave(s, i);
        return model_grant(m, i) && model_grant_heads(m, s);
    }
    if (m->phase[i] != BEFORE || !may_pass(s, op->verb == UPTO ? 1 : n))
        return false;
    if (op->verb == UPTO) {
        n = n < s->available ? n : s->available;
        s->available -= n;
        return model_over(m, i, n);
    }
    if (op->verb > TRY)
        return false;
    s->available -= n;
    return model_grant(m, i);
}

bool model_step(struct model *m, int i, int way)
{
    if (way == 3) {
        m->now = i;
        return model_grow_old(m, &m->sem[op_of(i)->sem]);
    }
    return way < 2 ? step_strict(m, i, way) : step_past_the_queue(m, i);
}
