/* SPDX-License-Identifier: MIT */
/*
 * oracles.c - checks the invariants of a semaphore: at each step while its mutex is free, and when a run ends.
 *
 *   I1  the number of available units is within the bounds that the results so far allow; exact at the end
 *   I2  no idle unit: the front of the queue asks for more units than are available
 *   I3  CONTENDED is set if and only if the queue is not empty, the semaphore is paused, or it is closed
 *   I4  a waiter in the queue is QUEUED, PARKED or WOKEN, and counted; a ticket is WAITING if and only
 *       if its waiter is in the queue
 *
 * The queue and the flows of shares are in order, the queue's rings are closed, and no waiter in the queue has
 * returned.  waiters.c checks the invariants of single accesses.
 */
#include "oracles.h"

#include "ticket.h"

bool oracle_own_mutex(const void *at)
{
    int i = sem_at(at);

    return i >= 0 && i_own(i);
}

/* ---- The queue ---- */

void check_alive(const void *at, size_t size)
{
    int i = stack_owner(at);

    if (i >= 0 && &thread[i] != self
        && (thread[i].at == ENDED || (const char *)at < thread[i].fibre.sp))
        fail("I8 lifetime", "%zu bytes on the stack of T%d, which has returned from there", size,
             i);
}

int64_t ages_at_ns(const struct fs_waiter *w)
{
    return scenario->aging_ns < INT64_MAX - w->enqueued_ns ? w->enqueued_ns + scenario->aging_ns
                                                         : INT64_MAX;
}

static void check_node(const struct fs_waitq_node *node, const struct fs_waitq_node *before)
{
    const struct fs_waiter *w = fs_waiter_of((struct fs_waitq_node *)(uintptr_t)node);
    int state = *(const volatile int *)&w->state;

    if (state != FS_QUEUED && state != FS_PARKED && state != FS_WOKEN)
        fail("I4 states", "%s is in the queue, and in state %d", object_words(node), state);
    if (node->in_ring.next->prev != &node->in_ring || node->in_ring.prev->next != &node->in_ring)
        fail("queue", "the ring is broken at %s", object_words(node));
    if (node->kind == FS_AGED && ages_at_ns(w) > run.now)
        fail("I6 age", "%s is aged too soon", object_words(node));
    if (before != NULL && same_share(before, node) && !goes_first(before, node))
        fail("order", "%s is behind one that must come after it", object_words(node));
}

/*
 * Append the ring of a tree node (with aging, the node), and the nodes below it, to the n nodes in the array.
 */
static int walk_below(struct fs_tree_node *in_tree,
                      const struct fs_waitq_node *node[WAITERS_MAX],
                      int n)
{
    const struct fs_waitq_node *leader = fs_waitq_node_of(in_tree), *at = leader;

    if (leader == NULL)
        return n;
    check_alive(leader, sizeof *leader);
    n = walk_below(in_tree->better, node, n);
    do {
        if (n == WAITERS_MAX)
            fail("queue", "it does not end");
        check_alive(at, sizeof *at);
        node[n++] = at;
        at = fs_waitq_next_in_ring(at);
    } while (at != leader && scenario->aging_ns == 0);
    return walk_below(in_tree->worse, node, n);
}

/* ---- With shares: flows, each with its requests ---- */

/* A flow is the first member of its share. */
static const struct fs_flow *flow_in(const struct fs_tree_node *in_tree)
{
    if (share_at(in_tree) < 0)
        fail("queue", "a flow is not that of a share");
    return (const struct fs_flow *)(const void *)&shares[share_at(in_tree)];
}

static int walk_flows(const struct fs_tree_node *in_tree, const struct fs_flow *flow[SHARES + 1], int n)
{
    if (in_tree == NULL)
        return n;
    n = walk_flows(in_tree->better, flow, n);
    if (n == SHARES)
        fail("queue", "the flows do not end");
    flow[n++] = flow_in(in_tree);
    return walk_flows(in_tree->worse, flow, n);
}

static const struct fs_waitq_node *best_of(const struct fs_flow *flow)
{
    struct fs_tree_node *at = flow->requests;

    if (at == NULL)
        fail("queue", "a flow without requests is in the queue");
    while (at->better != NULL)
        at = at->better;
    return fs_waitq_node_of(at);
}

static bool flow_goes_first(const struct fs_flow *flow, const struct fs_flow *other)
{
    const struct fs_waitq_node *node = best_of(flow), *first = best_of(other);

    if (node->priority != first->priority)
        return node->priority < first->priority;
    return flow->tag != other->tag ? (int64_t)(flow->tag - other->tag) < 0 : node->seq < first->seq;
}

static int walk_by_flows(const struct fs_sem *s, const struct fs_waitq_node *node[WAITERS_MAX])
{
    const struct fs_flow *flow[SHARES + 1];
    int flows = walk_flows(s->queue.root, flow, 0), n = 0;
    bool has_common = s->common.requests == NULL;

    for (int k = 0; k + 1 < flows; k++) {
        if (!flow_goes_first(flow[k], flow[k + 1]))
            fail("order", "the flow of %s is behind one that must come after it", object_words(flow[k + 1]));
    }
    for (int k = 0; k < flows; k++) {
        if (!has_common && flow_goes_first(&s->common, flow[k])) {
            n = walk_below(s->common.requests, node, n);
            has_common = true;
        }
        n = walk_below(flow[k]->requests, node, n);
    }
    return has_common ? n : walk_below(s->common.requests, node, n);
}

int walk_queue(int i, const struct fs_waitq_node *node[WAITERS_MAX])
{
    const struct fs_sem *s = sem_inside(i);
    int n = s->epoch >= FS_FIRST_EPOCH ? walk_by_flows(s, node) : walk_below(s->queue.root, node, 0);
    const struct fs_waitq_node *front = s->queue.front;

    if (scenario->aging_ns == 0) {
        if (front != (n > 0 ? node[0] : NULL))
            fail("queue", "the first is not the first");
        return n;
    }
    for (int at = 1; at < n; at++) {
        const struct fs_waitq_node *moved = node[at];
        int to = at;

        for (; to > 0 && goes_first(moved, node[to - 1]); to--)
            node[to] = node[to - 1];
        node[to] = moved;
    }
    for (int at = 0; at < n; at++) {
        if (front == NULL || node[at]->seq < front->seq)
            fail("queue", "the oldest is not the oldest");
    }
    return n;
}

/*
 * The largest excess of available units over the capacity.  A release of units that no thread held may have
 * loaded the capacity before another call changed it, and succeed; see fairsem_set_capacity().
 */
static int64_t may_exceed(int i)
{
    int64_t most = scenario->capacity, least = scenario->paused ? 0 : scenario->capacity;

    if (run.capacity_changes == 0 || !script_uses(RELEASE))
        return 0;
    for (int k = 0; k < places; k++) {
        const struct op *op = op_of(place[k]);

        if (run.call[place[k]].phase == NOT_YET || op->verb != CAPACITY || op->sem != i
            || op->n < 0 || op->n > FAIRSEM_MAX_UNITS)
            continue;
        most = op->n > most ? op->n : most;
        least = op->n < least ? op->n : least;
    }
    return most - least;
}

/* Can the front be granted?  In a pause only a drain can, when no unit is in use. */
static bool front_fits(const struct fs_waiter *head, int64_t limit, int closed, int64_t available)
{
    return limit != 0 ? head->units <= available : closed != 0 && available >= 0;
}

/* Is this the request of a drain?  Its thread may have begun the drain in a callback or a handler. */
static bool drains(const struct fs_waitq_node *node)
{
    int owner = stack_owner(node);

    for (int k = 0; k < OPS_MAX && owner >= 0; k++) {
        if (run.call[owner * OPS_MAX + k].phase == CALLED && script[owner][k].verb == DRAIN)
            return true;
    }
    return false;
}

static void check_queue(int i)
{
    const struct fs_sem *s = sem_inside(i);
    const struct fs_waitq_node *node[WAITERS_MAX];
    int64_t word = *(volatile const int64_t *)&s->word;
    int64_t limit = *(volatile const int64_t *)&s->limit;
    int closed = *(volatile const int *)&s->closed;
    int n = walk_queue(i, node);
    const struct fs_waiter *front = n > 0 ? fs_waiter_of((struct fs_waitq_node *)(uintptr_t)node[0]) : NULL;
    bool competes = scenario->bypass_ns != 0 && front != NULL && (word & FS_CONTENDED) == 0;
    bool contended = (n > 0 && !competes) || limit == 0 || closed != 0;

    for (int k = 0; k < n; k++)
        check_node(node[k], k > 0 ? node[k - 1] : NULL);
    if (n != (int)*(volatile const uint32_t *)&s->waiters)
        fail("I4 states", "%d are in the queue, %d are counted", n,
             (int)*(volatile const uint32_t *)&s->waiters);
    if (((word & FS_CONTENDED) != 0) != contended)
        fail("I3 CONTENDED", "CONTENDED is %s; %d in the queue, limit %lld, closed %d",
             contended ? "clear" : "set", n, (long long)limit, closed);
    if (competes && !is_on_its_way(front))
        fail("I3 CONTENDED", "CONTENDED is clear, and the front waiter is not about to compete; %d in the queue", n);
    if (n > 0 && !competes && front_fits(front, limit, closed, fs_word_available(word)))
        fail("I2 idle unit", "%lld available, the mutex free, and the head of the queue fits",
             (long long)fs_word_available(word));
    for (int k = 0; k < n && closed != 0; k++) {
        if (!drains(node[k]))
            fail("close", "%s waits on a closed semaphore", object_words(node[k]));
    }
    if (fs_word_available(word) > limit + may_exceed(i))
        fail("I1 conservation", "%lld units are available, the limit is %lld",
             (long long)fs_word_available(word), (long long)limit);
}

/* The callback of an idle ticket is not pending (C1 in callbacks.c). */
static void check_tickets(void)
{
    for (int t = 0; t < tickets_count; t++) {
        const struct fs_ticket *ticket = (const struct fs_ticket *)(const void *)&tickets[t];

        if (*(const volatile int *)&ticket->callback.waiter.state == FS_NOT_QUEUED
            && *(const volatile bool *)&ticket->callback.waiter.in_queue.pending)
            fail("C1 callback", "%s is idle, and its callback is pending",
                 object_words(&ticket->callback.waiter.state));
    }
}

void oracles_after_step(void)
{
    check_tickets();
    for (int i = 0; i < sems_count; i++) {
        if (run.sem_dead[i] || mutex_owner(i) != 0)
            continue;
        check_queue(i);
        bounds_check(i);
    }
}

/* ---- The end of a run ---- */

/* Only a call that waits for ever may still use the token. */
static void check_token(void)
{
    int waiting = 0;

    for (int k = 0; k < places; k++)
        waiting += run.call[place[k]].phase == CALLED;
    if (waiting == 0 && fairsem_token_destroy(&the_token) != 0)
        fail("token", "at the end it cannot be destroyed");
}

static bool is_queued(const fairsem_share_t *share)
{
    const struct fs_waitq_node *node[WAITERS_MAX];

    for (int i = 0; i < sems_count; i++) {
        int n = run.sem_dead[i] ? 0 : walk_queue(i, node);

        for (int k = 0; k < n; k++) {
            if ((const void *)((const struct fs_waiter *)(const void *)node[k])->share == share)
                return true;
        }
    }
    return false;
}

static void check_shares(void)
{
    for (int i = 0; i < SHARES; i++) {
        if (!run.share_dead[i] && fairsem_share_destroy(&shares[i]) != (is_queued(&shares[i]) ? EBUSY : 0))
            fail("share", "share %d: the result of fairsem_share_destroy() does not agree with the queues", i + 1);
    }
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
    check_shares();
    callbacks_at_end();
}
