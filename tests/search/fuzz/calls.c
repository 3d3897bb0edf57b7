/* SPDX-License-Identifier: MIT */
/* calls.c - see calls.h. */
#include "calls.h"

#include "bytes.h"
#include "machine.h"
#include "sequence.h"

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
        world.sem_calls[sem]++;
    if (ticket != NO_TICKET)
        world.ticket_calls[ticket]++;
    errno = CALL_ERRNO;
}

void call_may_wait(struct model_wait *wait, const fairsem_wait_t *how)
{
    thread_call()->wait = wait;
    thread_call()->how = how;
}

static void print_value(char *text, size_t size, enum words_kind kind, long long value)
{
    const char *name = kind == WORDS_ERROR ? words_error(value) : NULL;

    if (name != NULL)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "%lld", value);
}

static void check_result(int line, enum words_kind kind, long long result, long long expected)
{
    char found[32], model[32];

    words_result(line, kind, result);
    if (result == expected)
        return;
    print_value(found, sizeof found, kind, result);
    print_value(model, sizeof model, kind, expected);
    finding("line %d returns %s, the model says %s", line, found, model);
}

void call_end(struct call *call, enum words_kind kind, long long result, long long expected)
{
    if (errno != CALL_ERRNO)
        finding("line %d has changed errno to %d", call->line, errno);
    check_result(call->line, kind, result, expected);
    if (machine_locks != 0)
        finding("line %d leaves %d mutexes locked", call->line, machine_locks);
    if (model_next_due(world.model_ticket, TICKETS) != NULL)
        finding("line %d: a callback did not run", call->line);
    if (call->sem != NO_SEM)
        world.sem_calls[call->sem]--;
    if (call->ticket != NO_TICKET)
        world.ticket_calls[call->ticket]--;
    model_call--;
    *thread_call() = call->outer;
    world_compare();
}

void call_wait_ends(struct call *call, struct model_wait *wait, int result)
{
    if (!wait->over)
        finding("line %d returns %d, and should wait", call->line, result);
    model_wait_ends(wait);
    call_end(call, WORDS_ERROR, result, wait->result);
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
        sequence_step();
    thread_call()->calls_back = 0;
    thread_call()->depth--;
    world.model_ticket[t].called_by &= ~(1u << thread_running());
    words_result(line, WORDS_NUMBER, 0);
    errno = CALL_ERRNO;
}
