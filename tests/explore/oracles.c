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

bool oracle_own_mutex(const void *at)
{
    int i = sem_at(at);

    return i >= 0 && i_own(i);
}

/* ---- I1: bounds for what is available, by the results so far ---- */

static void may_take(struct bounds *b, int64_t n)
{
    b->low -= n;
}

static void has_taken(struct bounds *b, int64_t n)
{
    b->low -= n;
    b->high -= n;
}

static void count_call(struct bounds *b, const struct op *op, const struct call *call)
{
    bool done = call->phase == RETURNED;

    if (call->phase == NOT_YET || (done && op->verb != UPTO && call->result != 0))
        return;
    switch (op->verb) {
    case ACQUIRE: case TIMED: case FOR: case TRY: case CONSUME:
        if (done)
            has_taken(b, op->n);
        else
            may_take(b, op->n);
        break;
    case UPTO:
        if (done)
            has_taken(b, call->result);
        else
            may_take(b, op->n);
        break;
    case RELEASE: case GIVE:
        b->high += call->n;
        if (done)
            b->low += call->n;
        break;
    case CLAIM:
        if (done)
            has_taken(b, call->n);
        else
            may_take(b, run.ticket_units[op->ticket]);
        break;
    case TAKE:
        if (!done)
            may_take(b, op->n);
        break;
    case RETURN:
        if (!done)
            may_take(b, run.ticket_units[op->ticket]);
        break;
    default:
        break;
    }
}

/* The library tells, but nothing stops. */
static enum fairsem_ticket_state ticket_state(int t)
{
    struct thread *me = self;
    enum fairsem_ticket_state state;

    self = NULL;
    state = fairsem_ticket_state(&tickets[t]);
    self = me;
    return state;
}

struct bounds bounds_of(int i)
{
    struct bounds b = { scenario->units, scenario->units };

    for (int t = 0; t < threads_count; t++) {
        for (int k = 0; k < OPS_MAX; k++) {
            if (script[t][k].sem == i)
                count_call(&b, &script[t][k], &run.call[t * OPS_MAX + k]);
        }
        if (run.ticket_sem[t] == i && ticket_state(t) != FAIRSEM_TICKET_IDLE)
            may_take(&b, run.ticket_units[t]);
    }
    return b;
}

static void check_bounds(int i)
{
    struct bounds b;

    if (run.capacity_changes > 0)
        return;     /* only at the end */
    b = bounds_of(i);
    if (available(i) < b.low || available(i) > b.high)
        fail("I1 conservation", "%lld units are available, it must be %lld to %lld",
             (long long)available(i), (long long)b.low, (long long)b.high);
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
    if (fs_word_available(word) > limit)
        fail("I1 conservation", "%lld units are available, the limit is %lld",
             (long long)fs_word_available(word), (long long)limit);
}

void oracles_after_step(void)
{
    for (int i = 0; i < sems_count; i++) {
        if (run.sem_dead[i] || mutex_owner(i) != 0)
            continue;
        check_line(i);
        check_bounds(i);
    }
}

/* ---- The end of a run ---- */

static void check_conservation(int i)
{
    struct bounds b = bounds_of(i);
    int64_t expected = b.high;

    for (int t = 0; t < threads_count; t++) {
        if (run.ticket_sem[t] == i && ticket_state(t) == FAIRSEM_TICKET_GRANTED)
            expected -= run.ticket_units[t];
    }
    if (scenario->capacity != 0)
        expected += sem_inside(i)->limit - scenario->capacity;
    if (available(i) != expected)
        fail("I1 conservation", "at the end %lld units are available instead of %lld",
             (long long)available(i), (long long)expected);
}

void oracles_at_end(void)
{
    for (int i = 0; i < sems_count; i++) {
        if (run.sem_dead[i])
            continue;
        if (mutex_owner(i) != 0)
            fail("locks", "at the end the mutex is held");
        check_conservation(i);
        if (fairsem_stat(&sems[i], &(fairsem_stat_t){ 0 }) != 0)
            fail("stat", "it fails");
    }
}
