/* SPDX-License-Identifier: MIT */
/* bounds.c - I1: bounds of the available units, computed from the results so far. */
#include "oracles.h"

#include "ticket.h"

static void may_take(struct bounds *b, int64_t n)
{
    b->low -= n;
}

static void has_taken(struct bounds *b, int64_t n)
{
    b->low -= n;
    b->high -= n;
}

/* The largest number of units of semaphore i that ticket t can hold or wait for, by the takes so far. */
static int64_t most_of_ticket(int t, int i)
{
    int64_t most = 0;

    for (int k = 0; k < places; k++) {
        const struct op *op = op_of(place[k]);

        if (run.call[place[k]].phase != NOT_YET && verbs[op->verb].units == RESERVES
            && op->ticket == t && op->sem == i && op->n > most && op->n <= FAIRSEM_MAX_UNITS)
            most = op->n;
    }
    return most;
}

static void count_call(struct bounds *b, int i, const struct op *op, const struct call *call)
{
    bool done = call->phase == RETURNED;
    int units = verbs[op->verb].units;

    if (call->phase == NOT_YET || (done && units != TAKES_SOME && call->result != 0))
        return;
    if (!done && (units == CLAIMS || op->verb == RETURN))
        may_take(b, most_of_ticket(op->ticket, i));
    if (call->sem != i || call->n < 0 || call->n > FAIRSEM_MAX_UNITS || units == NO_CHANGE)
        return;
    if (units == GIVES) {
        b->high += call->n;
        b->low += done ? call->n : 0;
    } else if (!done) {
        may_take(b, call->n);
    } else if (units != RESERVES) {
        has_taken(b, units == TAKES_SOME ? call->result : call->n);
    }
}

/* Call the library, without a stop of the running thread. */
static enum fairsem_ticket_state ticket_state(int t)
{
    struct thread *me = self;
    enum fairsem_ticket_state state;

    self = NULL;
    state = fairsem_ticket_state(&tickets[t]);
    self = me;
    return state;
}

static const struct fs_ticket *ticket_inside(int t)
{
    return (const struct fs_ticket *)(const void *)&tickets[t];
}

static bool is_ticket_of(int t, int i)
{
    return *(void *const volatile *)&ticket_inside(t)->sem == (void *)sem_inside(i);
}

/*
 * Units that may be lost.  A returned ticket or a canceled thread frees units without a release.  After a
 * release of units that no thread held, the capacity may leave no room for them: they are lost, and counted
 * like a refused release.  At the end the model computes their number.
 */
static int64_t may_be_lost(int i)
{
    int64_t refused = sem_inside(i)->over_releases, units = 0;

    for (int k = 0; k < places && refused > 0; k++) {
        const struct op *op = op_of(place[k]);
        const struct call *call = &run.call[place[k]];
        const struct verb_row *verb = &verbs[op->verb];

        if (call->phase == NOT_YET || op->sem != i)
            continue;
        if (verb->units == GIVES && call->phase == RETURNED)
            refused -= call->result == EOVERFLOW;
        else if ((verb->units == RESERVES || (verb->units == TAKES && verb->waits))
                 && op->n >= 0 && op->n <= FAIRSEM_MAX_UNITS)
            units += op->n;
    }
    return refused > 0 ? units : 0;
}

struct bounds bounds_of(int i)
{
    int64_t units = scenario->units - scenario->debt - (scenario->paused ? scenario->capacity : 0);
    struct bounds b = { units, units };

    for (int k = 0; k < places; k++)
        count_call(&b, i, op_of(place[k]), &run.call[place[k]]);
    for (int t = 0; t < tickets_count; t++) {
        if (is_ticket_of(t, i) && ticket_state(t) != FAIRSEM_TICKET_IDLE)
            may_take(&b, ticket_inside(t)->callback.waiter.units);
    }
    b.low -= may_be_lost(i);
    return b;
}

void bounds_check(int i)
{
    struct bounds b;

    if (run.capacity_changes > 0)
        return;     /* bounds_check_end() takes account of the capacity */
    b = bounds_of(i);
    if (available(i) < b.low || available(i) > b.high)
        fail("I1 conservation", "%lld units are available instead of %lld to %lld",
             (long long)available(i), (long long)b.low, (long long)b.high);
}

void bounds_check_end(int i)
{
    struct bounds b = bounds_of(i);
    int64_t grown = 0, granted = 0;

    for (int t = 0; t < tickets_count; t++) {
        if (is_ticket_of(t, i) && ticket_state(t) == FAIRSEM_TICKET_GRANTED)
            granted += ticket_inside(t)->callback.waiter.units;
    }
    if (scenario->capacity != 0)
        grown = sem_inside(i)->limit - (scenario->paused ? 0 : scenario->capacity);
    if (available(i) > b.high - granted + grown
        || available(i) < b.high - granted + grown - may_be_lost(i))
        fail("I1 conservation", "at the end %lld units are available instead of %lld",
             (long long)available(i), (long long)(b.high - granted + grown));
}
