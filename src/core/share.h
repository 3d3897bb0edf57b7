/* SPDX-License-Identifier: MIT */
/*
 * share.h - order between clients: the requests of each share are a flow, and units go round between the
 * flows in proportion to their weights.
 *
 * This is start-time fair queueing (Goyal, Vin and Cheng, 1996).  The first request of a flow has a start
 * tag.  Its finish tag is the start tag plus units / weight, and is the start tag of the flow's next
 * request.  Among the flows of the best priority, the flow with the smallest start tag has the front of
 * the queue.  (If tags are equal, the flow with the older first request is first.)  The virtual time is the
 * latest start tag that was granted.
 *
 * A flow that was idle starts at the later of its finish tag and the virtual time: being idle earns no
 * credit.  A new flow has no finish tag, and starts a little behind the tag of the front (tag.h).  So new
 * flows, however many, neither pass a front that waits for many units nor make another flow wait for ever.
 *
 *      front ---> flow of a share, tag 7.0 -- flow of another, tag 7.3 -- the common flow, tag 7.5
 *                 [request] [request]         [request]                   [request] [request] [request]
 *
 * Requests without a share are the common flow, of weight 1.  An empty queue has no flows: s->epoch is
 * FS_BY_PRIORITY, and waitq.h describes the queue.  From the first request with a share until it is empty
 * again, the queue has flows.  In a queue with flows
 *      s->queue.root    is the tree of the flows that have requests, except for the common flow;
 *      s->queue.front   is the first request of the first flow;
 *      s->epoch         is a number from one 32-bit counter for all semaphores of the process.  The finish tag
 *                       of an idle flow is valid for one epoch, which ends when the queue is empty (see also
 *                       tag.h).
 *
 * Each priority has an order of its own.  A flow that moves to another priority keeps a tag between the
 * first and the last tag of that priority.  A smaller tag becomes the first tag, a larger one the last tag
 * plus one step.  So grants at the old priority still count, but delay the flow for one round at most.  (If
 * every moving flow got the first tag, a client could send one urgent request after each grant, and its backlog
 * would pass all other flows.)
 *
 * To be called in a section.
 */
#ifndef FS_SHARE_H
#define FS_SHARE_H

#include "sem.h"

struct fs_share;

static inline bool fs_has_flows(const struct fs_sem *s)
{
    return s->epoch >= FS_FIRST_EPOCH;
}

unsigned fs_share_weight(const struct fs_share *share);

/* Returns 0, or EINVAL if a request for units of s cannot have this share.  Needs no mutex. */
int fs_share_check(const struct fs_sem *s, fairsem_share_t *share);

/*
 * Prepare to enqueue a request with a share.  Returns 0, or EINVAL if the share has requests at another
 * semaphore.
 */
int fs_share_attach(struct fs_section *in, struct fs_share *share);

/* fs_waitq_enqueue() and fs_waitq_dequeue() for a queue with flows. */
void fs_flow_enqueue(struct fs_sem *s, struct fs_waiter *w, int priority);
void fs_flow_dequeue(struct fs_sem *s, struct fs_waiter *w, bool granted);

/*
 * fs_waitq_behind() and fs_waitq_next_in_tree() for a queue with flows.  Behind the last request of a
 * flow is the first request of the next flow.
 */
struct fs_waitq_node *fs_flow_behind(const struct fs_sem *s, const struct fs_waitq_node *node);
struct fs_waitq_node *fs_flow_next_in_tree(const struct fs_sem *s, const struct fs_waitq_node *leader);

/*
 * Returns the node behind this one, or NULL after the last.  With flows, the order of the grants may differ
 * from the order of the nodes, because each grant may move a flow behind others.
 */
static inline struct fs_waitq_node *fs_behind(const struct fs_sem *s, const struct fs_waitq_node *node)
{
    return fs_has_flows(s) ? fs_flow_behind(s, node) : fs_waitq_behind(&s->queue, node);
}

/*
 * For a leader (waitq.h): returns the oldest node of the flow's next priority.  After the last priority,
 * returns the first node of the next flow, or NULL.  Not for a queue that is kept by age.
 */
static inline struct fs_waitq_node *fs_next_in_tree(const struct fs_sem *s, const struct fs_waitq_node *leader)
{
    return fs_has_flows(s) ? fs_flow_next_in_tree(s, leader) : fs_waitq_next_in_tree(&s->queue, leader);
}

/* In the test build: check the order of the flows. */
#if FS_CHECKED
void fs_check_flows(const struct fs_sem *s);
#endif

static inline struct fs_share *fs_share_inside(fairsem_share_t *share)
{
    return (struct fs_share *)(void *)share;
}

#endif
