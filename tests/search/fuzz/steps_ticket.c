/* SPDX-License-Identifier: MIT */
/* steps_ticket.c - steps that work on tickets. */
#include "steps.h"

#include "bytes.h"

#include <errno.h>

void step_ticket_take(void)
{
    int t = below(TICKETS), s = below(SEMS), p = priority();
    int64_t n = units();
    uint8_t odd = byte();
    bool notify = odd % 4 != 0, idle = world.model_ticket[t].state == FAIRSEM_TICKET_IDLE;
    struct call call;
    int expected;

    call_begin(&call, SAY("fairsem_ticket_take(t%lld, s%lld, %lld, priority %lld), callback %lld",
                          t, s, n, p, notify), s, t);
    if (idle)
        world.callback_steps[t] = odd / 4 % 3;
    expected = model_ticket_take(&world.model_ticket[t], &world.model_sem[s], n, p, notify);
    call_end(&call, WORDS_ERROR,
             fairsem_ticket_take(world.ticket[t], world.sem[s], n, p, notify ? call_back : NULL,
                                 &world.ticket[t]), expected);
}

static bool watched(int t)
{
    for (const struct model_wait *wait = model_waits; wait != NULL; wait = wait->older) {
        if (wait->request == &world.model_ticket[t])
            return true;
    }
    return false;
}

/* Its memory is freed at once, unless another call with it is in progress. */
void step_ticket_return(void)
{
    int t = below(TICKETS);
    struct call call;

    if ((world.model_ticket[t].called_by & ~(1u << thread_running())) != 0)
        return;         /* it would wait for a thread that cannot go on first */
    call_begin(&call, SAY("fairsem_ticket_return(t%lld)", t), world_sem_of(t), t);
    model_ticket_return(&world.model_ticket[t]);
    call_end(&call, WORDS_ERROR, fairsem_ticket_return(world.ticket[t]), 0);
    if (world.ticket_calls[t] == 0 && !watched(t)
        && world.model_ticket[t].state == FAIRSEM_TICKET_IDLE && world.model_ticket[t].due == 0)
        world.ticket[t] = world_renew(world.ticket[t], sizeof(fairsem_ticket_t));
}

void step_ticket_claim(void)
{
    int t = below(TICKETS), g = below(GUARDS), s = world_sem_of(t), expected = EBUSY;
    struct call call;

    if (world.guard_busy[g])
        return;
    call_begin(&call, SAY("fairsem_ticket_claim(t%lld, g%lld)", t, g), s, t);
    if (world.model_guard[g].n == 0)
        expected = model_ticket_claim(&world.model_ticket[t]);
    if (expected == 0) {
        world.model_guard[g].sem = s;
        world.model_guard[g].n = world.model_ticket[t].ask.units;
    }
    call_end(&call, WORDS_ERROR, fairsem_ticket_claim(world.ticket[t], &world.guard[g]), expected);
}

void step_ticket_wait(void)
{
    int t = below(TICKETS), s = world_sem_of(t);
    struct model_wait wait = { .over = false };
    struct step_how step;
    struct call call;

    step_how(&step);
    if (!thread_may_sleep())
        return;
    call_begin(&call, SAY("fairsem_ticket_wait(t%lld), clock %lld, with a deadline %lld, "
                          "priority %lld, token k%lld", t, step.how.clock,
                          step.how.deadline != NULL, step.how.priority, step.token), s, t);
    call_may_wait(&wait, &step.how);
    model_ticket_wait(&world.model_ticket[t], &wait, &step.how, step_model_token(&step));
    call_wait_ends(&call, &wait, fairsem_ticket_wait(world.ticket[t], step.arg));
}
