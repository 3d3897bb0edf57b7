/* SPDX-License-Identifier: MIT */
/*
 * model.c - see model.h: the queue.  No request is granted before one that is ahead of it.
 */
#include "model.h"

#include "sem.h"

#include <string.h>

const struct op *op_of(int i)
{
    return &script[i / OPS_MAX][i % OPS_MAX];
}

int64_t result_of(int i)
{
    return run.call[i].result;
}

int64_t model_units_of(int i)
{
    return op_of(i)->verb == GIVE ? run.call[i].n : op_of(i)->n;
}

/* Had that call returned when this one began?  -1 stands for all before the threads started. */
bool returned_before(int that, int this)
{
    return that < 0 || (run.call[this].after >> that & 1) != 0;
}

bool model_valid(int64_t n)
{
    return n >= 0 && n <= FAIRSEM_MAX_UNITS;
}

void model_init(struct model *m)
{
    memset(m, 0, sizeof *m);
    for (int s = 0; s < SEMS_MAX; s++) {
        m->sem[s].available = scenario->units - scenario->debt;
        m->sem[s].limit = scenario->capacity != 0 ? scenario->capacity : FAIRSEM_MAX_UNITS;
        m->sem[s].closed = scenario->closed;
        if (scenario->paused) {
            m->sem[s].available -= scenario->capacity;
            m->sem[s].limit = 0;
        }
    }
    for (int t = 0; t < THREADS; t++)
        m->ended_by[t] = -1;
    m->token = scenario->canceled;
}

/* In a pause nothing fits, except a drain (of a closed semaphore) when no unit is in use. */
static bool model_fits(const struct model_sem *s, int64_t n)
{
    return s->limit != 0 ? n <= s->available : s->closed != 0 && s->available >= 0;
}

/* As the semaphore is, without a stop.  A destroyed one has no state. */
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
        const struct model_sem *s = &m->sem[i];
        const int64_t expected[END_NUMBERS] = { s->available, s->limit, s->closed, s->length };
        int64_t number[END_NUMBERS];

        model_end_of(i, number);
        if (run.sem_dead[i])
            continue;
        if (memcmp(number, expected, sizeof number) != 0)
            return false;
        /* With a bypass the model's head may claim at any time; but at the end it has. */
        if (s->length > 0 && model_fits(s, model_units_of(s->queue[0])))
            return false;
    }
    return true;
}

/* Units go back as far as they fit: others may have been released meanwhile that no thread held. */
void model_regain(struct model_sem *s, int64_t n)
{
    int64_t fits = s->limit - s->available;

    s->available += n < fits ? n : fits > 0 ? fits : 0;
}

bool model_over(struct model *m, int i, int64_t result)
{
    m->phase[i] = OVER;
    return result_of(i) == result;
}

/* It leaves the queue with a result, unless pthread_cancel ends its thread at the same moment. */
static bool over_or_canceled(struct model *m, int i, int64_t result)
{
    m->phase[i] = OVER;
    return result_of(i) == result || result_of(i) == RESULT_CANCELED;
}

/* ---- The queue ---- */

void model_join(struct model_sem *s, int i)
{
    int at = s->length++;

    s->number[i] = s->came++;
    for (; at > s->old && op_of(s->queue[at - 1])->priority > op_of(i)->priority; at--)
        s->queue[at] = s->queue[at - 1];
    s->queue[at] = (int8_t)i;
}

void model_leave(struct model_sem *s, int i)
{
    int at = 0;

    while (s->queue[at] != i)
        at++;
    s->old -= at < s->old;
    s->length--;
    for (; at < s->length; at++)
        s->queue[at] = s->queue[at + 1];
}

bool model_must_wait(const struct model_sem *s, int64_t n, int priority)
{
    return !model_fits(s, n) || s->old > 0
           || (s->length > 0 && op_of(s->queue[0])->priority <= priority);
}

/* Time may pass at any moment: the oldest of those that are not old becomes it. */
bool model_grow_old(struct model *m, struct model_sem *s)
{
    int oldest = s->old;
    int8_t i;

    if (scenario->aging_ns == 0 || s->old == s->length)
        return false;
    for (int at = s->old; at < s->length; at++) {
        if (s->number[s->queue[at]] < s->number[s->queue[oldest]])
            oldest = at;
    }
    i = s->queue[oldest];
    for (int at = oldest; at > s->old; at--)
        s->queue[at] = s->queue[at - 1];
    s->queue[s->old++] = i;
    return model_grant_heads(m, s);
}

bool model_has_ticket(const struct model_sem *s)
{
    for (int at = 0; at < s->length; at++) {
        if (op_of(s->queue[at])->verb == TAKE)
            return true;
    }
    return false;
}

/* A ticket leaves its queue, or is returned; the threads that wait for it are completed. */
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
    if (result_of(i) == RESULT_CANCELED) {
        m->phase[i] = HAS;
        return true;
    }
    return model_over(m, i, 0);
}

/* With a bypass the head claims in a step of its own, unless a ticket is in the queue. */
bool model_grant_heads(struct model *m, struct model_sem *s)
{
    if (scenario->bypass_ns != 0 && s->closed == 0 && !model_has_ticket(s))
        return true;
    return model_grant_all(m, s);
}

bool model_grant_all(struct model *m, struct model_sem *s)
{
    while (s->length > 0 && model_fits(s, model_units_of(s->queue[0]))) {
        int head = s->queue[0];

        if (op_of(head)->verb != DRAIN)
            s->available -= model_units_of(head);
        model_leave(s, head);
        if (!model_grant(m, head))
            return false;
    }
    return true;
}

/* Take out of the queue all requests for more than `most`. */
bool model_refuse(struct model *m, struct model_sem *s, int64_t most, int state, int why)
{
    for (int at = 0; at < s->length;) {
        int i = s->queue[at];

        if (model_units_of(i) <= most) {
            at++;
            continue;
        }
        model_leave(s, i);
        if (op_of(i)->verb == TAKE
                ? !model_end_ticket(m, op_of(i)->ticket, (enum fairsem_ticket_state)state, why)
                : !over_or_canceled(m, i, why))
            return false;
    }
    return true;
}
