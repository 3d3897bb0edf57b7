/* SPDX-License-Identifier: MIT */
/* checks.c - the checks around each call of the library, see steps.h. */
#include "steps.h"

#include "bytes.h"
#include "machine.h"

#include <errno.h>

enum { CALLS_DEEP = 24 };

bool calls_deep(void)
{
    return model_call >= CALLS_DEEP;
}

void call_begin(struct call *call, int line, int sem, int ticket)
{
    struct thread_call *now = thread_call();

    *call = (struct call){ line, sem, ticket, *now };
    now->wait = NULL;
    now->all = NULL;
    now->depth++;
    model_call++;
    if (sem != NO_SEM)
        world.busy.sem[sem]++;
    if (ticket != NO_TICKET)
        world.busy.ticket[ticket]++;
    errno = CALL_ERRNO;
}

void call_may_wait(struct model_wait *wait, const fairsem_wait_t *how)
{
    thread_call()->wait = wait;
    thread_call()->how = how;
}

int call_waited(const struct call *call, struct model_wait *wait, int64_t result)
{
    if (!wait->over)
        finding("line %d returns %lld, and should wait", call->line, (long long)result);
    model_wait_ends(wait);
    return wait->result;
}

void call_result(int line, int64_t result, int64_t expected)
{
    words_result(line, result);
    if (result != expected)
        finding("line %d returns %lld, the model says %lld", line, (long long)result,
                (long long)expected);
}

void call_end(struct call *call, int64_t result, int64_t expected)
{
    if (errno != CALL_ERRNO)
        finding("line %d has changed errno to %d", call->line, errno);
    call_result(call->line, result, expected);
    if (machine_locks != 0)
        finding("line %d leaves %d mutexes locked", call->line, machine_locks);
    if (model_next_due(world.model_ticket, TICKETS) != NULL)
        finding("line %d: a callback did not run", call->line);
    if (call->sem != NO_SEM)
        world.busy.sem[call->sem]--;
    if (call->ticket != NO_TICKET)
        world.busy.ticket[call->ticket]--;
    model_call--;
    *thread_call() = call->outer;
    world_compare();
}

void call_back(fairsem_ticket_t *ticket, void *arg)
{
    int t = (int)((fairsem_ticket_t **)arg - world.ticket);
    int line = SAY("callback of t%lld", t), steps = world.callback_steps[t];

    if (model_next_due(world.model_ticket, TICKETS) != &world.model_ticket[t])
        finding("callback of t%d: runs before its turn", t);
    if (ticket != world.ticket[t])
        finding("callback of t%d: runs with another ticket", t);
    if (machine_locks != 0)
        finding("callback of t%d: with a mutex locked", t);
    if (thread_call()->calls_back != 0)
        finding("callback of t%d: in another callback", t);
    world.model_ticket[t].due = 0;
    world.model_ticket[t].called_by |= 1u << thread_running();
    world_compare();
    thread_call()->depth++;
    thread_call()->calls_back = model_call;
    while (steps-- > 0 && !bytes_end() && !calls_deep())
        step_any();
    thread_call()->calls_back = 0;
    thread_call()->depth--;
    world.model_ticket[t].called_by &= ~(1u << thread_running());
    words_result(line, 0);
    errno = CALL_ERRNO;
}
