/* SPDX-License-Identifier: MIT */
/*
 * calls_back.c - the callbacks of tickets: their operations, and checks of when they run.
 *
 * After a take that returned EINPROGRESS the callback runs once, unless the ticket is claimed or returned
 * before.  After a take that returned 0 the callback does not run.  No callback runs inside another callback.
 * After the end of a `return` that began after the take, the callback neither runs nor begins.  A claim does
 * not wait for a callback that is about to begin; oracles.c checks after a claim that the callback is no longer
 * pending.
 */
#include "explorer.h"

static bool has_returned(int i)
{
    return (run.returned >> i & 1) != 0;
}

static bool in_callback(int i)
{
    return i % OPS_MAX >= IN_CALLBACK;
}

/* Is call i a successful `verb` with the take's ticket, made after the take? */
static bool is_since(int i, enum verb verb, int take)
{
    return has_returned(i) && op_of(i)->verb == verb && run.call[i].result == 0
           && op_of(i)->ticket == op_of(take)->ticket && returned_before(take, i);
}

static void begins(int take)
{
    if (run.made[take]++ > 0)
        fail("callback", "it runs twice");
    if (run.calls_back[id_of(self)])
        fail("callback", "it runs inside another one");
    if (has_returned(take) && run.call[take].result != EINPROGRESS)
        fail("callback", "it runs for a take that did not return EINPROGRESS");
    for (int k = 0; k < places; k++) {
        if (is_since(place[k], RETURN, take))
            fail("callback", "it begins after its ticket has been returned");
    }
}

/* Does the take's callback contain a `return`? */
static bool returns_others(const struct op *take)
{
    for (int k = 0; k < callback_ops[take->callback]; k++) {
        if (callback_script[take->callback][k].verb == RETURN)
            return true;
    }
    return false;
}

/*
 * The callback ends.  No `return` of its ticket by another thread may have ended since the callback began;
 * `known` are the calls that had returned before.  But if two callbacks return each other's tickets, one of the
 * two returns must not wait.
 */
static void ends(int take, uint64_t known)
{
    for (int k = 0; k < places; k++) {
        int i = place[k];

        if ((known >> i & 1) == 0 && i / OPS_MAX != id_of(self) && is_since(i, RETURN, take)
            && !(in_callback(i) && returns_others(op_of(take))))
            fail("callback", "it still runs after its ticket has been returned");
    }
}

/* Perform the callback's operations, each as a call of its own, while the thread has places left. */
static void act(const struct op *take, int ticket)
{
    int id = id_of(self), interrupted = self->op;
    int64_t deadline = self->op_deadline;

    for (int k = 0; k < callback_ops[take->callback] && run.acted[id] < CALLBACK_PLACES; k++) {
        int at = run.acted[id]++;

        run.acts[id][at] = (uint8_t)(1 + (take->callback * CALLBACK_OPS + k) * THREADS
                                     + ticket);
        script[id][IN_CALLBACK + at] = callback_script[take->callback][k];
        perform(IN_CALLBACK + at);
    }
    self->op = interrupted;
    self->op_deadline = deadline;
}

void called_back(fairsem_ticket_t *of, void *arg)
{
    int take = (int)(uintptr_t)arg;
    uint64_t known;

    step("is in a callback of", of, NULL);
    begins(take);
    known = run.returned;
    run.calls_back[id_of(self)] = true;
    act(op_of(take), (int)(of - tickets));
    step("leaves the callback of", of, NULL);
    run.calls_back[id_of(self)] = false;
    ends(take, known);
}

void callbacks_of_take(int take)
{
    if (run.made[take] > 0 && run.call[take].result != EINPROGRESS)
        fail("callback", "it ran for a take that does not return EINPROGRESS");
}

int64_t callbacks_made(int ticket)
{
    int64_t made = 0;

    for (int k = 0; k < places; k++) {
        if (op_of(place[k])->verb == TAKE && op_of(place[k])->ticket == ticket)
            made += run.made[place[k]];
    }
    return made;
}

/*
 * If a ticket has left its queue and is neither claimed nor returned, its take's callback must have run.  After
 * several successful takes of a ticket, this is not checked: the results do not tell which take is the last.
 */
void callbacks_at_end(void)
{
    for (int t = 0; t < tickets_count; t++) {
        enum fairsem_ticket_state state = fairsem_ticket_state(&tickets[t]);
        int takes = 0, last = 0;

        for (int k = 0; k < places; k++) {
            int i = place[k];

            if (op_of(i)->verb == TAKE && op_of(i)->ticket == t && has_returned(i)
                && (run.call[i].result == EINPROGRESS || run.call[i].result == 0)) {
                takes++;
                last = i;
            }
        }
        if (takes == 1 && state != FAIRSEM_TICKET_IDLE && state != FAIRSEM_TICKET_WAITING
            && op_of(last)->calls && run.call[last].result == EINPROGRESS
            && run.made[last] != 1)
            fail("callback", "it did not run, and its ticket is no longer in the queue");
    }
}
