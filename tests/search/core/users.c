/* SPDX-License-Identifier: MIT */
/*
 * users.c - weak memory from the point of view of the library's users: the order that they may rely on, and the
 * reuse of memory as soon as this is allowed.
 */
#include "views.h"

/*
 * With weak memory, the calls before a call are those whose return is in its thread's view.  Order in time does
 * not count, because unordered threads cannot observe it.
 */
void user_calls(struct call *call, int number)
{
    if (limits.own)
        call->after = views_begin_call(number);
}

/* Does another thread wait for the return of this operation?  Then the two users synchronize. */
static bool is_awaited(int id, int k)
{
    for (int t = 0; t < threads_count; t++) {
        for (int i = 0; i < ops_count[t]; i++) {
            if (script[t][i].verb == AFTER && script[t][i].ticket == id && script[t][i].n == k + 1)
                return true;
        }
    }
    return false;
}

/* The library's stack frames below `below` will be reused; after a cancellation, the whole stack. */
void user_has_returned(struct call *call, int number, const char *below)
{
    int id = number / OPS_MAX, k = number % OPS_MAX;

    if (!limits.own)
        return;
    races_leave_frames(call->result == RESULT_CANCELED ? stack_top(id) : below);
    call->saw = views_end_call(number);
    if (is_awaited(id, k))
        views_release(&script[id][k]);
}

/* An `after` has ended: the thread has waited for an operation of another thread, or for its end. */
void user_came_after(const struct op *op)
{
    if (views_on() && op->n == 0)
        views_join_thread(&thread[op->ticket], self);
    else if (views_on())
        views_acquire(&script[op->ticket][op->n - 1]);
}

/*
 * With `>`: the thread before the running one waits or has ended.  Users learn this from fairsem_waiters(), or
 * by a join.
 */
void user_follows(void)
{
    if (views_on())
        views_join_thread(self - 1, self);
}

/* ---- A destroyed semaphore or share, or a returned ticket, may be freed at once ---- */

static void reuse(const void *at, size_t size)
{
    if (views_on())
        races_access(at, size, PLAIN_WRITE, (const void *)reuse);
}

void user_destroyed(int sem)
{
    reuse(&sems[sem], sizeof sems[0]);
}

void user_unshared(int share)
{
    reuse(&shares[share], sizeof shares[0]);
}

/* Does no thread except the running one use this ticket in the scenario? */
static bool nobody_else_uses(int ticket)
{
    for (int t = 0; t < threads_count; t++) {
        for (int k = 0; k < ops_count[t]; k++) {
            const struct op *op = &script[t][k];

            if (&thread[t] != self && op->ticket == ticket && (verbs[op->verb].of & A_TICKET) != 0)
                return false;
        }
    }
    return true;
}

void user_returned(int ticket)
{
    if (nobody_else_uses(ticket))
        reuse(&tickets[ticket], sizeof tickets[0]);
}
