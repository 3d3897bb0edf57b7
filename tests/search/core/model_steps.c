/* SPDX-License-Identifier: MIT */
/* model_steps.c - the steps of all operations; model_tickets.c has those of tickets.  See model.h. */
#include "model.h"

/* ---- Tokens ---- */

/*
 * A canceled token stops each call that begins after the cancel has returned.  A call that began before is
 * stopped, or finds units; but it no longer waits once the cancel has returned.
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
    return has_deadline(op);
}

bool model_may_wait(const struct model *m, int i)
{
    return !op_of(i)->token || m->token == 0 || m->canceling;
}

/* ---- Shares ---- */

static bool share_is_elsewhere(const struct model *m, const struct spec *s, int share)
{
    for (int k = 0; k < sems_count && share != 0; k++) {
        if (&m->sem[k] != s && spec_has_share(&m->sem[k], share))
            return true;
    }
    return false;
}

/*
 * May call i have found its share at another semaphore, although the model has no request of this share in a
 * queue?  A call that is granted at the end of its own section has its request in the queue until then.  Call
 * i, which checks the share without the mutex, may find this request.  In the model the granted call is never
 * in the queue.
 */
static bool share_may_be_elsewhere(int i)
{
    for (int k = 0; k < places; k++) {
        const struct op *op = op_of(place[k]);

        if (op->share == op_of(i)->share && op->sem != op_of(i)->sem && model_overlap(place[k], i)
            && result_of(i) == EINVAL)
            return true;
    }
    return false;
}

/* The library's first check, without the mutex: may the share be used with this semaphore? */
static bool share_is_refused(const struct model *m, const struct spec *s, int i)
{
    int share = op_of(i)->share;

    return share != 0 && (m->share_dead[share - 1] || !spec_takes_shares(s) || share_is_elsewhere(m, s, share));
}

static bool charge(struct model *m, int i)
{
    const struct op *op = op_of(i);
    struct spec *at = NULL;

    if (m->share_dead[op->share - 1] || op->n < -FAIRSEM_MAX_UNITS || op->n > FAIRSEM_MAX_UNITS)
        return model_over(m, i, EINVAL);
    for (int k = 0; k < sems_count; k++)
        at = spec_has_share(&m->sem[k], op->share) ? &m->sem[k] : at;
    for (int k = 0; k < sems_count; k++) {
        if (at == NULL || at == &m->sem[k])
            spec_charge(&m->sem[k], op->share, op->n);
    }
    return model_over(m, i, 0);
}

static bool end_share(struct model *m, int i)
{
    int share = op_of(i)->share;

    if (share_is_elsewhere(m, NULL, share))
        return model_over(m, i, EBUSY);
    m->share_dead[share - 1] = true;
    return model_over(m, i, 0);
}

/* Request i has been enqueued.  It may be granted at once if its share has had less than others. */
static bool joins(struct model *m, struct spec *s, int i)
{
    m->phase[i] = WAITS;
    for (int k = 0; k < sems_count; k++) {
        if (&m->sem[k] != s)
            spec_forget_share(&m->sem[k], op_of(i)->share);
    }
    return model_may_wait(m, i) && model_settle(m, s, true);
}

/* ---- Steps ---- */

/* All forms of acquire, and the take of a ticket.  `instead`, if not 0, is the result in place of a wait. */
bool model_ask(struct model *m, struct spec *s, int i, int instead)
{
    const struct op *op = op_of(i);
    int result;

    if (result_of(i) == ETIMEDOUT && is_timed(op) && (spec_is_full(s) || !model_may_wait(m, i)))
        instead = ETIMEDOUT;    /* its deadline passed before the request */
    if (instead == 0 && op->verb != DRAIN && share_is_elsewhere(m, s, op->share))
        instead = spec_is_full(s) ? ENOBUFS : EINVAL;
    result = spec_ask(s, &model_request[i], instead);
    /*
     * More units than the capacity may be free, see may_know_old_limit().  The fast path does not load the
     * capacity, so it grants a request that is larger than the capacity.
     */
    if (result == E2BIG && result_of(i) == 0 && s->closed == 0 && s->waiters == 0
        && op->n <= s->available) {
        s->available -= op->n;
        result = 0;
    }
    if (result == SPEC_WAITS)
        return joins(m, s, i);
    if (result != 0)
        return model_over(m, i, result);
    return model_grant(m, i) && (op->verb != TAKE || result_of(i) == 0);
}

/*
 * May the release i, which does not lock the mutex, have loaded the capacity before another call changed it?
 * Then it may exceed the new capacity, but only with units that no thread held: see fairsem_set_capacity().
 */
static bool may_know_old_limit(const struct spec *s, int i, int64_t n)
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
    return changes && result_of(i) == 0 && n <= most - s->available;
}

static bool settled(struct model *m, struct spec *s, int i, int result)
{
    return model_settle(m, s, true) && model_over(m, i, result);
}

static bool release(struct model *m, struct spec *s, int i, int64_t n)
{
    int error = spec_release(s, n);

    if (error == EOVERFLOW && may_know_old_limit(s, i, n)) {
        s->available += n;
        error = 0;
    }
    return settled(m, s, i, error);
}

/* A drain first closes; it asks for units in its next step. */
static bool close_to_drain(struct model *m, struct spec *s, int i)
{
    int error = spec_close_to_drain(s, &model_request[i]);

    if (error != 0)
        return model_over(m, i, error);
    m->phase[i] = ASKS;
    return model_settle(m, s, true);
}

/* The canceled waiters are dequeued one by one, in any order, each in a separate step. */
static bool cancel(struct model *m, int i)
{
    if (m->phase[i] == BEFORE) {
        int error = spec_reason(&m->token, (int)op_of(i)->n, ECANCELED);

        if (error != 0)
            return model_over(m, i, error);
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

static int canceler(const struct model *m)
{
    for (int k = 0; k < places; k++) {
        if (op_of(place[k])->verb == CANCEL && m->phase[place[k]] == WAITS)
            return place[k];
    }
    return m->now;
}

/* End the wait of call i, for the reason that its result names. */
static bool abort_wait(struct model *m, struct spec *s, int i)
{
    const struct op *op = op_of(i);
    int64_t result = result_of(i);

    if (!(result == ETIMEDOUT && is_timed(op))
        && !(result == m->token && m->token != 0 && op->token)
        && !(result == EINTR && scenario->signals > 0) && result != RESULT_CANCELED)
        return false;
    if (m->phase[i] == HAS)
        (void)spec_regain(s, &model_request[i]);
    else if (op->verb != WATCH)
        spec_leave(s, &model_request[i]);
    m->phase[i] = OVER;
    if (op->token && result == m->token && m->canceling)
        m->now = canceler(m);   /* the canceling call ends this wait, and then grants the waiters behind it */
    return model_settle(m, s, true);
}

static bool step_strict(struct model *m, int i, int way)
{
    const struct op *op = op_of(i);
    struct spec *s = &m->sem[op->sem];

    if (m->phase[i] == BEFORE && (verbs[op->verb].with & SHARE) != 0 && op->share != 0) {
        m->phase[i] = CHECKED;
        if (way == 1 && sems_count > 1)
            return share_may_be_elsewhere(i) && model_over(m, i, EINVAL);
        if (share_is_refused(m, s, i))
            return way == 0 && model_over(m, i, EINVAL);
        if (sems_count > 1)
            return way == 0;
    }
    if (m->phase[i] <= CHECKED && op->verb == DRAIN)
        return way == 0 && close_to_drain(m, s, i);
    if (m->phase[i] > CHECKED && op->verb == RETURN)
        return way == 0 && model_returned(m, i);
    if (m->phase[i] > ASKS)
        return way == 0 && (op->verb == CANCEL ? cancel(m, i) : abort_wait(m, s, i));
    if ((takes_n(op) || op->verb == TAKE) && !spec_valid(op->n))
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
        return model_over(m, i, spec_upto(s, op->n));
    case RELEASE:
        return release(m, s, i, op->n);
    case GIVE:          /* makes no call if the thread holds no units */
        return run.call[i].n != 0 ? release(m, s, i, run.call[i].n) : model_over(m, i, 0);
    case CLOSE:
        return settled(m, s, i, spec_close(s, (int)op->n));
    case CAPACITY:
        return settled(m, s, i, spec_set_capacity(s, op->n));
    case CONSUME:
        return model_over(m, i, spec_consume(s, op->n));
    case DESTROY:
        return model_over(m, i, spec_destroy(s));
    case WOULD:         /* false while a try may barge, although the front has not taken its units yet */
        return model_inspect(m, s, i, spec_would_block(s, op->n)
                                      && !(result_of(i) == 0 && spec_may_pass(s, op->n)));
    case STAT:
        return model_inspect(m, s, i, s->available * 16 + s->waiters);
    case AVAILABLE:
        return model_inspect(m, s, i, s->available);
    case WAITERS:
        return model_inspect(m, s, i, s->waiters);
    case SIZE:
        return model_inspect(m, s, i, s->bounded ? s->capacity : -1);
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
    case CHARGE:
        return charge(m, i);
    case UNSHARE:
        return end_share(m, i);
    default:            /* for example counters: the scenario states their values, the model does not */
        return model_over(m, i, result_of(i));
    }
}

/* Way 2, with a bypass: the front takes its units, or a request barges.  (waiters.c checks for how long.) */
static bool step_past_the_queue(struct model *m, int i)
{
    const struct op *op = op_of(i);
    struct spec *s = &m->sem[op->sem];
    int64_t n = op->n;
    int result;

    if (m->phase[i] == WAITS && takes_n(op))
        return s->bypass && spec_next(s, false, &result) == &model_request[i]
               && model_grant(m, i) && model_settle(m, s, true);
    if (op->verb == UPTO && n > s->available)
        n = s->available;
    if (m->phase[i] != BEFORE || !(takes_n(op) || op->verb == UPTO) || !spec_may_pass(s, n))
        return false;
    s->available -= n;
    return op->verb == UPTO ? model_over(m, i, n) : model_grant(m, i);
}

static void check_fairness(const struct model *m)
{
    for (int k = 0; k < sems_count; k++) {
        if (m->sem[k].unfair)
            fail("fairness", "in the model a share is granted more than the bound of shares");
    }
}

bool model_step(struct model *m, int i, int way)
{
    struct spec *s = &m->sem[op_of(i)->sem];

    m->now = i;
    if (way == 3)       /* time passes: the oldest request that has not aged ages */
        return scenario->aging_ns != 0 && s->aged++ < s->waiters && model_settle(m, s, true);
    check_fairness(m);
    return way < 2 ? step_strict(m, i, way) : step_past_the_queue(m, i);
}
