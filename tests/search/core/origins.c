/* SPDX-License-Identifier: MIT */
/*
 * origins.c - with weak memory, checks at the end of a run that each acquire is ordered after the releases of
 * its units.
 *
 * Users rely on this: a release synchronizes with the acquire that gets its units.  Units have no identity.  So
 * each acquired unit must have a possible origin, which no other acquired unit uses: an initial unit, or a unit
 * of a release whose beginning the views order before the return of the acquire.  Origins are assigned unit by
 * unit (a matching in a bipartite graph, by augmenting paths).
 *
 * A thread that learns that the semaphore is closed, or the token canceled, must also see all that the closing
 * or canceling thread did before, such as recording an error.
 */
#include "explorer.h"

enum { UNITS_MAX = 64, AT_FIRST = -1 };

static int made[UNITS_MAX], made_count;     /* per unit: the call that released it, or AT_FIRST */
static int taken[UNITS_MAX], taken_count;   /* per unit: the call that acquired it */
static int used_by[UNITS_MAX];              /* per unit of made[]: the unit of taken[] that uses it, or -1 */
static bool too_many;                       /* more units than the arrays can hold: check nothing */

static void add(int unit[], int *count, int64_t n, int call)
{
    too_many = too_many || n > UNITS_MAX - *count;
    while (n-- > 0 && *count < UNITS_MAX)
        unit[(*count)++] = call;
}

static void count_call(int i, int sem)
{
    const struct op *op = op_of(i);
    const struct call *call = &run.call[i];

    if (call->phase != RETURNED || call->sem != sem)
        return;
    add(taken, &taken_count, units_got(op, call->n, call->result), i);
    if (verbs[op->verb].units == GIVES && call->result == 0)
        add(made, &made_count, call->n, i);
}

static bool find_origin(int unit, bool tried[UNITS_MAX])
{
    for (int k = 0; k < made_count; k++) {
        if (tried[k] || (made[k] != AT_FIRST && (run.call[taken[unit]].saw >> made[k] & 1) == 0))
            continue;
        tried[k] = true;
        if (used_by[k] < 0 || find_origin(used_by[k], tried)) {
            used_by[k] = unit;
            return true;
        }
    }
    return false;
}

/*
 * `drain` is a call, or -1.  A drain must be ordered after the releases of the units that it waited for; in a
 * pause, after all releases.  All acquires precede the drain: no request is granted once the semaphore is
 * closed.
 */
static void check(int sem, int drain)
{
    made_count = taken_count = 0;
    too_many = false;
    add(made, &made_count, scenario->units, AT_FIRST);
    for (int i = 0; i < CALLS; i++)
        count_call(i, sem);
    if (drain >= 0)
        add(taken, &taken_count, scenario->paused ? scenario->capacity : op_of(drain)->n, drain);
    if (too_many)
        return;
    for (int k = 0; k < made_count; k++)
        used_by[k] = -1;
    for (int unit = 0; unit < taken_count; unit++) {
        bool tried[UNITS_MAX] = { false };

        if (!find_origin(unit, tried))
            fail("memory order", "T%d has acquired units, and nothing orders their release before",
                 taken[unit] / OPS_MAX);
    }
}

static uint64_t all_of(enum verb verb)
{
    uint64_t calls = 0;

    for (int i = 0; i < CALLS; i++) {
        if (run.call[i].phase != NOT_YET && op_of(i)->verb == verb)
            calls |= UINT64_C(1) << i;
    }
    return calls;
}

static void check_reason(int i)
{
    const struct call *call = &run.call[i];
    bool closed = call->result == ESHUTDOWN;
    bool canceled = call->result == ECANCELED && op_of(i)->token;
    uint64_t causes = closed ? all_of(CLOSE) | all_of(DRAIN) : all_of(CANCEL);

    if (call->phase != RETURNED || (!closed && !canceled))
        return;
    if (closed ? scenario->closed != 0 : scenario->canceled != 0)
        return;     /* closed or canceled from the start */
    if (canceled && op_of(i)->verb == WATCH)
        causes |= all_of(RETURN);
    if ((call->saw & causes) == 0)
        fail("memory order", "T%d learns of a %s, and nothing orders that before", i / OPS_MAX,
             closed ? "close" : "cancel");
}

/* A larger capacity makes units without a release, so units are not checked if the capacity changes. */
void origins_check(void)
{
    if (!limits.own)
        return;
    for (int i = 0; i < CALLS; i++)
        check_reason(i);
    if (script_uses(CAPACITY))
        return;
    for (int sem = 0; sem < sems_count; sem++)
        check(sem, -1);
    for (int i = 0; i < CALLS; i++) {
        if (op_of(i)->verb == DRAIN && run.call[i].phase == RETURNED && run.call[i].result == 0
            && !script_uses(CONSUME) && !script_uses(TAKE))
            check(op_of(i)->sem, i);
    }
}
