/* SPDX-License-Identifier: MIT */
/*
 * oracles.c - what must be true after each step in which no mutex is held, and at the end.
 *
 *   I1  what is available lies within what the results so far allow; at the end exactly
 *   I2  no idle unit: the head of the line asks for more than there is
 *   I3  SLOW is set if somebody is in line, while paused and after close, and only then
 *   I4  who is in line is QUEUED, PARKED or ALERTED, and counted
 *   and the line is in order, its rings are closed, nobody in it is gone
 *
 * What must be true at a single access is in waiters.c.
 */
#include "oracles.h"

#include "ticket.h"

bool oracle_own_mutex(const void *at)
{
    int i = sem_at(at);

    return i >= 0 && i_own(i);
}

/* ---- The line ---- */

void check_alive(const void *at, size_t size)
{
    int i = stack_owner(at);

    if (i >= 0 && &thread[i] != self
        && (thread[i].at == ENDED || (const char *)at < thread[i].fibre.sp))
        fail("I8 lifetime", "%zu bytes on the stack of T%d, which has returned from there", size,
             i);
}

static void check_node(const struct fs_waitq_node *node, const struct fs_waitq_node *before)
{
    int state = *(volatile int *)&fs_waiter_of((struct fs_waitq_node *)(uintptr_t)node)->state;

    if (state != FS_QUEUED && state != FS_PARKED && state != FS_ALERTED)
        fail("I4 states", "%s is in line, and in state %d", object_words(node), state);
    if (node->next->prev != node || node->prev->next != node)
        fail("line", "the ring is broken at %s", object_words(node));
    if (before != NULL
        && (before->priority > node->priority
            || (before->priority == node->priority && before->ticket >= node->ticket)))
        fail("order", "%s stands behind one who came later", object_words(node));
}

int walk_line(int i, const struct fs_waitq_node *node[WAITERS_MAX])
{
    int n = 0;

    for (struct fs_waitq_node *leader = sem_inside(i)->line.first; leader != NULL;
         leader = leader->worse) {
        struct fs_waitq_node *at = leader;

        do {
            if (n == WAITERS_MAX)
                fail("line", "it does not end");
            check_alive(at, sizeof *at);
            node[n++] = at;
            at = at->next;
        } while (at != leader);
    }
    return n;
}

/*
 * A release of units that nobody held may succeed by a capacity that it has read before another
 * call changed it: fairsem_set_capacity() says so.  By how much there can be too many then.
 */
static int64_t may_exceed(int i)
{
    int64_t most = scenario->capacity, least = scenario->paused ? 0 : scenario->capacity;

    if (run.capacity_changes == 0 || !script_uses(RELEASE))
        return 0;
    for (int k = 0; k < places; k++) {
        const struct op *op = &script[place[k] / OPS_MAX][place[k] % OPS_MAX];

        if (run.call[place[k]].phase == NOT_YET || op->verb != CAPACITY || op->sem != i
            || op->n < 0 || op->n > FAIRSEM_MAX_UNITS)
            continue;
        most = op->n > most ? op->n : most;
        least = op->n < least ? op->n : least;
    }
    return most - least;
}

static void check_line(int i)
{
    const struct fs_sem *s = sem_inside(i);
    const struct fs_waitq_node *node[WAITERS_MAX];
    int64_t word = *(volatile const int64_t *)&s->word;
    int64_t limit = *(volatile const int64_t *)&s->limit;
    int closed = *(volatile const int *)&s->closed;
    int n = walk_line(i, node);
    bool slow = n > 0 || limit == 0 || closed != 0;

    for (int k = 0; k < n; k++)
        check_node(node[k], k > 0 ? node[k - 1] : NULL);
    if (n != (int)*(volatile const int64_t *)&s->waiters)
        fail("I4 states", "%d are in line, %d are counted", n,
             (int)*(volatile const int64_t *)&s->waiters);
    if (((word & FS_SLOW) != 0) != slow)
        fail("I3 SLOW", "SLOW is %s; %d in line, limit %lld, closed %d", slow ? "clear" : "set", n,
             (long long)limit, closed);
    if (word >= FS_OPEN
        && (n == 0 || limit == 0 || closed != 0 || scenario->bypass_ns == 0
            || !is_on_its_way(fs_waiter_of((struct fs_waitq_node *)(uintptr_t)node[0]))))
        fail("I2 OPEN", "and nobody is on its way; %d in line, limit %lld, closed %d", n,
             (long long)limit, closed);
    if (n > 0 && limit != 0 && word < FS_OPEN
        && fs_waiter_of((struct fs_waitq_node *)(uintptr_t)node[0])->units
               <= fs_word_available(word))
        fail("I2 idle unit", "%lld available, the mutex free, and the head of the line fits",
             (long long)fs_word_available(word));
    if (n > 0 && closed != 0)
        fail("close", "somebody waits at a closed semaphore");
    if (fs_word_available(word) > limit + may_exceed(i))
        fail("I1 conservation", "%lld units are available, the limit is %lld",
             (long long)fs_word_available(word), (long long)limit);
}

/* Whoever claims or returns a ticket has dropped its callback by then (C1 in callbacks.c). */
static void check_tickets(void)
{
    for (int t = 0; t < threads_count; t++) {
        const struct fs_ticket *ticket = (const struct fs_ticket *)(const void *)&tickets[t];
        const struct fs_waiter *w = &ticket->waiter;

        if (*(const volatile int *)&w->state == FS_IDLE && *(const volatile bool *)&w->due)
            fail("C1 callback", "%s is idle, and its callback is due", object_words(&w->state));
    }
}

void oracles_after_step(void)
{
    check_tickets();
    for (int i = 0; i < sems_count; i++) {
        if (run.sem_dead[i] || mutex_owner(i) != 0)
            continue;
        check_line(i);
        bounds_check(i);
    }
}

/* ---- The end of a run ---- */

/* Nobody waits with it any more, or for ever. */
static void check_token(void)
{
    int waiting = 0;

    for (int k = 0; k < places; k++)
        waiting += run.call[place[k]].phase == CALLED;
    if (waiting == 0 && fairsem_token_destroy(&the_token) != 0)
        fail("token", "at the end it cannot be destroyed");
}

void oracles_at_end(void)
{
    for (int i = 0; i < sems_count; i++) {
        if (run.sem_dead[i])
            continue;
        if (mutex_owner(i) != 0)
            fail("locks", "at the end the mutex is held");
        bounds_check_end(i);
        if (fairsem_stat(&sems[i], &(fairsem_stat_t){ 0 }) != 0)
            fail("stat", "it fails");
    }
    check_token();
    callbacks_at_end();
}
