/* SPDX-License-Identifier: MIT */
/*
 * share.h - order between clients: the requests of each share are a flow, and units go round between the
 * flows in proportion to their weights.
 *
 * It is start-time fair queueing (Goyal, Vin and Cheng, 1996).  The first request of a flow has a start
 * tag; its finish tag is that plus units / weight, and is the start tag of the next one.  Of the flows
 * with the best priority, the one with the smallest start tag has the front of the queue; of two equal
 * ones, the one whose first request is older.  The virtual time is the latest start tag that was granted.
 * A flow that was idle starts at the virtual time, or at its finish tag if that is later, so it has no
 * credit.  An idle flow without a finish tag starts a little behind the tag of the front instead (tag.h), so
 * that a front that waits for many units, or another flow, is not passed by ever new flows.
 *
 *      front ---> flow of a share, tag 7.0 -- flow of another, tag 7.3 -- the common flow, tag 7.5
 *                 [request] [request]         [request]                   [request] [request] [request]
 *
 * Requests without a share are the common flow, of weight 1.  As long as no request with a share has been
 * enqueued since the queue was empty, s->epoch is FS_BY_PRIORITY, and the queue is that of waitq.h.  Otherwise
 *      s->queue.root    is the tree of the flows that have requests, except for the common one;
 *      s->queue.front   is the first request of the first flow;
 *      s->epoch         is a number that no other semaphore has, nor this one at another time.  Finish tags
 *                       of idle flows are good for one epoch, which ends when the queue is empty.
 *
 * Each priority has an order of its own.  A flow that comes to another priority keeps its tag if that is
 * between the tags that it finds there.  Otherwise it starts with the first of them, or behind the last: what
 * it was granted elsewhere holds it up for one round at most, and is not forgotten.  (When a flow
 * started with the first, one urgent request after each grant let its backlog pass everybody.)
 *
 * In a section, for all of this.
 */
#ifndef FS_SHARE_H
#define FS_SHARE_H

#include "sem.h"

struct fs_share;

/* Does the queue have flows? */
static inline bool fs_has_flows(const struct fs_sem *s)
{
    return s->epoch >= FS_FIRST_EPOCH;
}

unsigned fs_share_weight(const struct fs_share *share);

/* May a request for units of s have this share?  0 or EINVAL.  Without mutex. */
int fs_share_check(const struct fs_sem *s, fairsem_share_t *share);

/* Before a request with a share is enqueued.  EINVAL: the share has requests at another semaphore. */
int fs_share_attach(struct fs_section *in, struct fs_share *share);

/* With flows: what fs_waitq_enqueue() and fs_waitq_dequeue() do without them. */
void fs_flow_enqueue(struct fs_sem *s, struct fs_waiter *w, int priority);
void fs_flow_dequeue(struct fs_sem *s, struct fs_waiter *w, bool granted);

/* With flows: fs_waitq_behind() and fs_waitq_next_in_tree(), in its flow, or the first of the next flow. */
struct fs_waitq_node *fs_flow_behind(const struct fs_sem *s, const struct fs_waitq_node *node);
struct fs_waitq_node *fs_flow_next_in_tree(const struct fs_sem *s, const struct fs_waitq_node *leader);

/*
 * With flows or without: the node behind this one; NULL after the last.  With flows units go round, so
 * only the first node is sure to be granted in this order.
 */
static inline struct fs_waitq_node *fs_behind(const struct fs_sem *s, const struct fs_waitq_node *node)
{
    return fs_has_flows(s) ? fs_flow_behind(s, node) : fs_waitq_behind(&s->queue, node);
}

/* Behind a leader: the oldest node of the next priority, or the first of the next flow.  Not by age. */
static inline struct fs_waitq_node *fs_next_in_tree(const struct fs_sem *s, const struct fs_waitq_node *leader)
{
    return fs_has_flows(s) ? fs_flow_next_in_tree(s, leader) : fs_waitq_next_in_tree(&s->queue, leader);
}

/* In the test build: do the flows fit together? */
#if FS_CHECKED
void fs_check_flows(const struct fs_sem *s);
#endif

static inline struct fs_share *fs_share_inside(fairsem_share_t *share)
{
    return (struct fs_share *)(void *)share;
}

#endif
