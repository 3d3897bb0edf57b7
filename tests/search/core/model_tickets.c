/* SPDX-License-Identifier: MIT */
/* model_tickets.c - the steps of tickets, see model.h. */
#include "model.h"

bool model_overlap(int a, int b)
{
    return run.call[a].phase != NOT_YET && !returned_before(a, b) && !returned_before(b, a);
}

/* May another thread be taking, claiming or returning the ticket? */
static bool in_other_hands(int i)
{
    for (int k = 0; k < places; k++) {
        const struct op *op = op_of(place[k]);

        if (place[k] / OPS_MAX != i / OPS_MAX && op->ticket == op_of(i)->ticket
            && (op->verb == TAKE || op->verb == CLAIM || op->verb == RETURN)
            && model_overlap(place[k], i))
            return true;
    }
    return false;
}

/* Is the ticket between the two steps of a return: idle, but its units are not free yet? */
static bool is_on_its_way_back(const struct model *m, int t)
{
    for (int k = 0; k < places; k++) {
        const struct op *op = op_of(place[k]);

        if (op->verb == RETURN && op->ticket == t && m->phase[place[k]] == WAITS)
            return true;
    }
    return false;
}

/* Is call i made by the ticket's own callback? */
static bool by_own_callback(int i)
{
    int k = i % OPS_MAX;

    return k >= IN_CALLBACK
           && (run.acts[i / OPS_MAX][k - IN_CALLBACK] - 1) % THREADS == op_of(i)->ticket;
}

/*
 * A take by the ticket's own callback is refused (ECANCELED) during another thread's return of the ticket.  In
 * the model the first step of this return may come later, because the callback delays it.  *must_be: the take
 * must be refused, because the first step is over, and the return waits for the callback.  A return does not
 * wait in a callback, nor before the ticket's first take with a callback.
 */
static bool is_refused(const struct model *m, int i, bool *must_be)
{
    bool may_be = false;

    *must_be = false;
    for (int k = 0; k < places && by_own_callback(i); k++) {
        int other = place[k];

        if (op_of(other)->verb != RETURN || op_of(other)->ticket != op_of(i)->ticket
            || !model_overlap(other, i))
            continue;
        may_be = may_be || m->phase[other] != OVER;
        *must_be = *must_be || (m->phase[other] != BEFORE && other % OPS_MAX < IN_CALLBACK
                                && (m->before_callbacks >> other & 1) == 0);
    }
    return result_of(i) == ECANCELED && (may_be || *must_be);
}

bool model_take(struct model *m, struct spec *s, int i)
{
    int t = op_of(i)->ticket;
    bool must_be_refused;

    if (is_refused(m, i, &must_be_refused))
        return model_over(m, i, ECANCELED);
    if (must_be_refused && result_of(i) != EINVAL)
        return false;
    if (m->ticket[t] != FAIRSEM_TICKET_IDLE || is_on_its_way_back(m, t)
        || (result_of(i) == EINVAL && in_other_hands(i)))
        return model_over(m, i, EINVAL);
    m->ticket[t] = FAIRSEM_TICKET_WAITING;
    m->taken_by[t] = i;
    m->had_callback[t] = m->had_callback[t] || op_of(i)->calls;
    if (s->closed == 0 && !model_settle(m, s, false))    /* a queued ticket ends barging: grant the front */
        return false;
    if (!model_ask(m, s, i, 0) || (m->phase[i] == WAITS && result_of(i) != EINPROGRESS))
        return false;
    if (result_of(i) != 0 && result_of(i) != EINPROGRESS)
        m->ticket[t] = FAIRSEM_TICKET_IDLE;
    m->phase[i] = OVER;     /* the call is over, but its request may be in the queue */
    return true;
}

/*
 * May call i, which loads the state without the mutex, find the ticket waiting although its wait is over?
 * Until the resolving call returns, it may, because this call resolves its waiters one by one.  But it may not
 * after the return of a call that knew that the wait was over (`heard`).  Such a call has waited for the
 * ticket, or inspected the ticket or its semaphore.
 */
static bool may_look_old(const struct model *m, int i)
{
    int t = op_of(i)->ticket;

    for (int k = 0; k < places; k++) {
        if ((m->heard[t] >> place[k] & 1) != 0 && returned_before(place[k], i))
            return false;
    }
    return m->ticket[t] != FAIRSEM_TICKET_IDLE && !returned_before(m->ended_by[t], i);
}

static void hear(struct model *m, int t, int i)
{
    if (m->ticket[t] != FAIRSEM_TICKET_WAITING)
        m->heard[t] |= UINT64_C(1) << i;
}

bool model_ticket_state(struct model *m, int i)
{
    int t = op_of(i)->ticket;

    if (result_of(i) == FAIRSEM_TICKET_WAITING && may_look_old(m, i))
        return model_over(m, i, FAIRSEM_TICKET_WAITING);
    hear(m, t, i);
    return model_over(m, i, m->ticket[t]);
}

/* A call that inspects the semaphore knows the states of its tickets. */
bool model_inspect(struct model *m, const struct spec *s, int i, int64_t result)
{
    for (int t = 0; t < tickets_count; t++) {
        if (m->ended_by[t] >= 0 && &m->sem[op_of(m->taken_by[t])->sem] == s)
            hear(m, t, i);
    }
    return model_over(m, i, result);
}

bool model_claim(struct model *m, int i)
{
    int t = op_of(i)->ticket, result;

    if (result_of(i) == EAGAIN && may_look_old(m, i))
        return model_over(m, i, EAGAIN);
    hear(m, t, i);
    result = spec_ticket(m->ticket[t], m->why[t]);
    if (result == 0)
        m->ticket[t] = FAIRSEM_TICKET_IDLE;
    return model_over(m, i, result == SPEC_WAITS ? EAGAIN : result);
}

/*
 * First step of a return: the ticket is idle.  Second step: the units of a granted ticket are free.  Other
 * threads may see the state between the two.  A return without units has two steps, too, because it lasts as
 * long as the ticket's callback.  Between the steps of a granted ticket, why[] is the call that took it.
 */
bool model_return(struct model *m, int i)
{
    int t = op_of(i)->ticket;
    enum fairsem_ticket_state state = m->ticket[t];
    struct spec *s = &m->sem[op_of(m->taken_by[t])->sem];

    m->ticket[t] = FAIRSEM_TICKET_IDLE;
    m->phase[i] = HAS;
    if (!m->had_callback[t])
        m->before_callbacks |= UINT64_C(1) << i;
    if (state == FAIRSEM_TICKET_GRANTED) {
        m->why[t] = m->taken_by[t];
        m->phase[i] = WAITS;
        return true;
    }
    if (state == FAIRSEM_TICKET_WAITING) {
        spec_leave(s, &model_request[m->taken_by[t]]);
        if (!model_end_ticket(m, t, FAIRSEM_TICKET_IDLE, ECANCELED))
            return false;
    }
    return model_settle(m, s, true);
}

/* In phase WAITS there are units to free; in HAS there are none. */
bool model_returned(struct model *m, int i)
{
    int taken_by = m->why[op_of(i)->ticket];
    struct spec *s;

    if (m->phase[i] == HAS)
        return model_over(m, i, 0);
    s = &m->sem[op_of(taken_by)->sem];
    (void)spec_regain(s, &model_request[taken_by]);
    return model_settle(m, s, true) && model_over(m, i, 0);
}

bool model_watch(struct model *m, int i)
{
    int t = op_of(i)->ticket;

    if (op_of(i)->priority != 0 || op_of(i)->share != 0)
        return model_over(m, i, EINVAL);
    if (m->ticket[t] == FAIRSEM_TICKET_WAITING) {
        m->phase[i] = WAITS;
        return model_may_wait(m, i);
    }
    hear(m, t, i);
    return model_over(m, i, spec_ticket(m->ticket[t], m->why[t]));
}
