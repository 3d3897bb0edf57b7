/* SPDX-License-Identifier: MIT */
/* steps_units.c - steps that work on guards; each guard belongs to one call at a time. */
#include "steps.h"

#include "bytes.h"

#include <errno.h>

static void fill(int g, int s, int64_t n)
{
    world.model_guard[g].sem = s;
    world.model_guard[g].n = n;
}

void step_units_acquire(void)
{
    int g = below(GUARDS), s = below(SEMS);
    int64_t n = units();
    struct model_wait wait = { .over = true, .result = EBUSY };
    struct step_how step;
    struct call call;
    int result;

    step_how(&step);
    if (!thread_may_sleep() || world.guard_busy[g])
        return;
    call_begin(&call, SAY("fairsem_units_acquire(g%lld, s%lld, %lld), with a deadline %lld, "
                          "priority %lld, token k%lld", g, s, n, step.how.deadline != NULL,
                          step.how.priority, step.token), s, NO_TICKET);
    call_may_wait(&wait, &step.how);
    world.guard_busy[g] = true;
    if (world.model_guard[g].n == 0)
        model_acquire(&world.model_sem[s], &wait, n, &step.how, step_model_token(&step));
    result = fairsem_units_acquire(&world.guard[g], world.sem[s], n, step.arg);
    world.guard_busy[g] = false;
    if (wait.result == 0)
        fill(g, s, n);
    call_wait_ends(&call, &wait, result);
}

void step_units_tryacquire(void)
{
    int g = below(GUARDS), s = below(SEMS), expected = EBUSY;
    int64_t n = units();
    struct call call;

    if (world.guard_busy[g])
        return;
    call_begin(&call, SAY("fairsem_units_tryacquire(g%lld, s%lld, %lld)", g, s, n), s, NO_TICKET);
    if (world.model_guard[g].n == 0)
        expected = spec_try(&world.model_sem[s].now, n);
    if (expected == 0)
        fill(g, s, n);
    call_end(&call, WORDS_ERROR, fairsem_units_tryacquire(&world.guard[g], world.sem[s], n),
             expected);
}

void step_units_adopt(void)
{
    int g = below(GUARDS), s = below(SEMS), expected = 0;
    int64_t n = units();
    struct call call;

    if (world.guard_busy[g])
        return;
    call_begin(&call, SAY("fairsem_units_adopt(g%lld, s%lld, %lld)", g, s, n), s, NO_TICKET);
    if (world.model_guard[g].n != 0)
        expected = EBUSY;
    else if (n < 0 || n > FAIRSEM_MAX_UNITS)
        expected = EINVAL;
    else
        fill(g, s, n);
    call_end(&call, WORDS_ERROR, fairsem_units_adopt(&world.guard[g], world.sem[s], n), expected);
}

/* The guard's units go to the queue, and a granted ticket's callback may run: the guard is busy. */
static int model_return(int g, int64_t n)
{
    int error;

    if (n < 0 || n > world.model_guard[g].n)
        return EINVAL;
    if (n == 0)
        return 0;
    error = model_release(&world.model_sem[world.model_guard[g].sem], n);
    if (error == 0)
        world.model_guard[g].n -= n;
    return error;
}

void step_units_release(void)
{
    int g = below(GUARDS), expected, result;
    struct call call;

    if (world.guard_busy[g])
        return;
    call_begin(&call, SAY("fairsem_units_release(g%lld)", g), NO_SEM, NO_TICKET);
    world.guard_busy[g] = true;
    expected = model_return(g, world.model_guard[g].n);
    result = fairsem_units_release(&world.guard[g]);
    world.guard_busy[g] = false;
    call_end(&call, WORDS_ERROR, result, expected);
}

void step_units_return(void)
{
    int g = below(GUARDS), expected, result;
    int64_t n = units();
    struct call call;

    if (world.guard_busy[g])
        return;
    call_begin(&call, SAY("fairsem_units_return(g%lld, %lld)", g, n), NO_SEM, NO_TICKET);
    world.guard_busy[g] = true;
    expected = model_return(g, n);
    result = fairsem_units_return(&world.guard[g], n);
    world.guard_busy[g] = false;
    call_end(&call, WORDS_ERROR, result, expected);
}

void step_units_split(void)
{
    int from = below(GUARDS), into = below(GUARDS), expected = 0;
    int64_t n = units();
    struct call call;

    if (world.guard_busy[from] || world.guard_busy[into])
        return;
    call_begin(&call, SAY("fairsem_units_split(g%lld, %lld, g%lld)", from, n, into), NO_SEM,
               NO_TICKET);
    if (from == into || n < 0 || n > world.model_guard[from].n) {
        expected = EINVAL;
    } else if (world.model_guard[into].n != 0) {
        expected = EBUSY;
    } else {
        fill(into, world.model_guard[from].sem, n);
        world.model_guard[from].n -= n;
    }
    call_end(&call, WORDS_ERROR, fairsem_units_split(&world.guard[from], n, &world.guard[into]),
             expected);
}

static int model_merge(int into, int from)
{
    if (into == from)
        return EINVAL;
    if (world.model_guard[from].n == 0)
        return 0;
    if (world.model_guard[into].n != 0
        && world.model_guard[into].sem != world.model_guard[from].sem)
        return EINVAL;
    if (world.model_guard[into].n > FAIRSEM_MAX_UNITS - world.model_guard[from].n)
        return EINVAL;
    fill(into, world.model_guard[from].sem, world.model_guard[into].n + world.model_guard[from].n);
    world.model_guard[from].n = 0;
    return 0;
}

void step_units_merge(void)
{
    int into = below(GUARDS), from = below(GUARDS), expected;
    struct call call;

    if (world.guard_busy[from] || world.guard_busy[into])
        return;
    call_begin(&call, SAY("fairsem_units_merge(g%lld, g%lld)", into, from), NO_SEM, NO_TICKET);
    expected = model_merge(into, from);
    call_end(&call, WORDS_ERROR, fairsem_units_merge(&world.guard[into], &world.guard[from]),
             expected);
}

void step_units_forget(void)
{
    int g = below(GUARDS);
    int64_t expected = world.model_guard[g].n;
    struct call call;

    if (world.guard_busy[g])
        return;
    call_begin(&call, SAY("fairsem_units_forget(g%lld)", g), NO_SEM, NO_TICKET);
    world.model_guard[g].n = 0;
    call_end(&call, WORDS_NUMBER, fairsem_units_forget(&world.guard[g]), expected);
}
