/* SPDX-License-Identifier: MIT */
/* model_tickets.c - the steps of tickets, see model.h. */
#include "model.h"

bool model_take(struct model *m, struct model_sem *s, int i)
{
    int t = op_of(i)->ticket;

    if (m->ticket[t] != FAIRSEM_TICKET_IDLE)
        return model_over(m, i, EINVAL);
    m->ticket[t] = FAIRSEM_TICKET_WAITING;
    m->taken_by[t] = i;
    if (!model_ask(m, s, i, 0) || (m->phase[i] == WAITS && result_of(i) != EINPROGRESS))
        return false;
    if (result_of(i) != 0 && result_of(i) != EINPROGRESS)
        m->ticket[t] = FAIRSEM_TICKET_IDLE;
    m->phase[i] = OVER;     /* the call; its request may stand in line */
    return true;
}

/*
 * Whoever ends the waiting of several does so one by one, and a claim looks without the mutex.
 * So it may say that a ticket still waits as long as the call that serves it has not returned;
 * but not when it has been said already, to somebody who watched it, that it does not.
 */
static bool may_look_old(const struct model *m, int i)
{
    int t = op_of(i)->ticket;

    for (int other = 0; other < CALLS; other++) {
        if (op_of(other)->verb == WATCH && op_of(other)->ticket == t && m->phase[other] == OVER
            && result_of(other) == 0 && returned_before(other, i))
            return false;
    }
    return m->ticket[t] != FAIRSEM_TICKET_IDLE && !returned_before(m->told_by[t], i);
}

bool model_claim(struct model *m, int i)
{
    int t = op_of(i)->ticket;

    if (result_of(i) == EAGAIN && may_look_old(m, i))
        return model_over(m, i, EAGAIN);
    switch (m->ticket[t]) {
    case FAIRSEM_TICKET_IDLE:
        return model_over(m, i, EINVAL);
    case FAIRSEM_TICKET_WAITING:
        return model_over(m, i, EAGAIN);
    case FAIRSEM_TICKET_GRANTED:
        m->ticket[t] = FAIRSEM_TICKET_IDLE;
        return model_over(m, i, 0);
    default:
        return model_over(m, i, m->why[t]);
    }
}

bool model_return(struct model *m, int i)
{
    int t = op_of(i)->ticket;
    enum fairsem_ticket_state state = m->ticket[t];
    struct model_sem *s = &m->sem[op_of(m->taken_by[t])->sem];

    m->ticket[t] = FAIRSEM_TICKET_IDLE;
    if (state == FAIRSEM_TICKET_WAITING) {
        model_leave(s, m->taken_by[t]);
        if (!model_tell_ticket(m, t, FAIRSEM_TICKET_IDLE, ECANCELED))
            return false;
    } else if (state == FAIRSEM_TICKET_GRANTED) {
        model_regain(s, op_of(m->taken_by[t])->n);
    }
    return model_serve(m, s) && model_over(m, i, 0);
}

bool model_watch(struct model *m, int i)
{
    int t = op_of(i)->ticket;

    switch (m->ticket[t]) {
    case FAIRSEM_TICKET_IDLE:
        return model_over(m, i, EINVAL);
    case FAIRSEM_TICKET_WAITING:
        m->phase[i] = WAITS;
        return model_may_wait(m, i);
    case FAIRSEM_TICKET_GRANTED:
        return model_over(m, i, 0);
    default:
        return model_over(m, i, m->why[t]);
    }
}
