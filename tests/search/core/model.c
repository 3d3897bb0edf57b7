/* SPDX-License-Identifier: MIT */
/* model.c - the model's initial state, its final state, and the ends of waits; see model.h. */
#include "model.h"

#include "sem.h"

#include <string.h>

struct spec_request model_request[CALLS];

int64_t result_of(int i)
{
    return run.call[i].result;
}

void model_init(struct model *m)
{
    const fairsem_attr_t attr = {
        .capacity = scenario->capacity, .max_waiters = scenario->max_waiters,
    };

    memset(m, 0, sizeof *m);
    for (int s = 0; s < SEMS_MAX; s++) {
        (void)spec_init(&m->sem[s], scenario->units, &attr);
        (void)spec_consume(&m->sem[s], scenario->debt);
        if (scenario->paused)
            (void)spec_set_capacity(&m->sem[s], 0);
        m->sem[s].closed = scenario->closed;
        m->sem[s].bypass = scenario->bypass_ns != 0;
        m->sem[s].aging = scenario->aging_ns != 0;
    }
    for (int t = 0; t < THREADS; t++)
        m->ended_by[t] = -1;
    m->token = scenario->canceled;
    for (int k = 0; k < places; k++) {
        const struct op *op = op_of(place[k]);

        model_request[place[k]] = (struct spec_request){
            .units = op->n, .priority = op->verb == TRY ? INT32_MAX : op->priority,
            .ticket = op->verb == TAKE, .drains = op->verb == DRAIN,
            .share = op->share, .weight = weight_of_share(op->share),
        };
    }
}

/* Read the state of the semaphore, without a stop.  The numbers of a destroyed semaphore are 0. */
void model_end_of(int sem, int64_t number[END_NUMBERS])
{
    const struct fs_sem *s = (const struct fs_sem *)(const void *)&sems[sem];

    number[0] = fs_word_available(*(const volatile int64_t *)&s->word);
    number[1] = *(const volatile int64_t *)&s->limit;
    number[2] = *(const volatile int *)&s->closed;
    number[3] = *(const volatile uint32_t *)&s->waiters;
    if (run.sem_dead[sem])
        memset(number, 0, END_NUMBERS * sizeof number[0]);
}

bool model_ends_well(const struct model *m)
{
    for (int i = 0; i < sems_count; i++) {
        struct spec s = m->sem[i];
        const int64_t expected[END_NUMBERS] = { s.available, s.capacity, s.closed, s.waiters };
        int64_t number[END_NUMBERS];
        int result;

        model_end_of(i, number);
        if (run.sem_dead[i])
            continue;
        if (memcmp(number, expected, sizeof number) != 0)
            return false;
        /* With a bypass the model's front takes its units in a step of its own, which must have come by now. */
        if (spec_next(&s, false, &result) != NULL)
            return false;
    }
    return true;
}

bool model_over(struct model *m, int i, int64_t result)
{
    m->phase[i] = OVER;
    return result_of(i) == result;
}

/* A waiting call ends with this result, unless pthread_cancel ends its thread at the same moment. */
static bool over_or_canceled(struct model *m, int i, int64_t result)
{
    return model_over(m, i, result) || result_of(i) == RESULT_CANCELED;
}

/* ---- Waits that end ---- */

/* A ticket leaves its queue, or is returned: resolve the threads that wait for it. */
bool model_end_ticket(struct model *m, int t, enum fairsem_ticket_state state, int why)
{
    m->ticket[t] = state;
    m->why[t] = why;
    m->ended_by[t] = m->now;
    m->heard[t] = 0;
    for (int k = 0; k < places; k++) {
        int i = place[k];

        if (op_of(i)->verb != WATCH || op_of(i)->ticket != t || m->phase[i] != WAITS)
            continue;
        if (result_of(i) != RESULT_CANCELED)
            m->heard[t] |= UINT64_C(1) << i;
        if (!over_or_canceled(m, i, state == FAIRSEM_TICKET_GRANTED ? 0 : why))
            return false;
    }
    return true;
}

bool model_grant(struct model *m, int i)
{
    if (op_of(i)->verb == TAKE)
        return model_end_ticket(m, op_of(i)->ticket, FAIRSEM_TICKET_GRANTED, 0);
    m->phase[i] = result_of(i) == RESULT_CANCELED ? HAS : OVER;
    return result_of(i) == 0 || m->phase[i] == HAS;
}

/* After a change, let requests leave the queue.  For `claims` see spec_next(). */
bool model_settle(struct model *m, struct spec *s, bool claims)
{
    const struct spec_request *r;
    int why;

    while ((r = spec_next(s, claims, &why)) != NULL) {
        int i = (int)(r - model_request);

        if (why == 0 ? !model_grant(m, i)
            : !r->ticket ? !over_or_canceled(m, i, why)
            : !model_end_ticket(m, op_of(i)->ticket, s->closed != 0 ? FAIRSEM_TICKET_CLOSED
                                                              : FAIRSEM_TICKET_CANCELED, why))
            return false;
    }
    return true;
}
