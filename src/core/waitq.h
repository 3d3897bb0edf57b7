/* SPDX-License-Identifier: MIT */
/*
 * waitq.h - the wait queue: nodes in the order of (priority, sequence number), lower numbers first.  In a
 * queue by age (attr.aging_ns), aged nodes come before all others, the oldest first.
 *
 * Sequence numbers count arrivals.  The queue neither locks nor allocates: the caller owns the nodes.
 *
 *      root -> [leader of priority 0]                    (each leader: a ring, oldest first)
 *               better /          \ worse
 *     [leader of priority -5]    [leader of priority 9]
 *
 * The nodes of one priority form a ring.  Its oldest node is the leader; its youngest is the node before
 * the leader.  The leaders form a search tree by priority.  Enqueuing and dequeuing take a time
 * logarithmic in the number of different priorities.
 *
 *      front -> [oldest] - [next to arrive] - ... - [youngest]    (by age: one ring; each of its
 *                                                                  nodes is in the tree, too)
 *
 * A queue by age needs two orders of all nodes, but a node has links for only one ring and one tree.  So one
 * ring has all nodes in the order of arrival, and the tree has all nodes, not only leaders, by (priority,
 * sequence number).  Enqueuing and dequeuing take a time logarithmic in the length.  Nodes age in the order
 * of arrival, so the aged nodes are the first of the ring.
 */
#ifndef FS_WAITQ_H
#define FS_WAITQ_H

#include "list.h"
#include "tree.h"

#include <assert.h>
#include <stdint.h>

/* FS_NOT_AGED is a bit that no other kind has: fs_waitq_first() tests it. */
enum fs_waitq_kind {
    FS_FOLLOWS, FS_LEADS,                  /* in a ring of equal priority */
    FS_AGED, FS_NOT_AGED = 4                   /* in a queue by age: aged, not aged */
};

struct fs_waitq_node {
    struct fs_tree_node   in_tree;         /* unused if FS_FOLLOWS; first, so that a cast of NULL gives NULL */
    struct fs_list        in_ring;         /* the ring of this priority; in a queue by age: of all nodes */
    uint64_t              seq;
    int                   priority;
    uint8_t               kind : 7;        /* enum fs_waitq_kind */
    /* From here on, members of the owner of the node: a ticket has no room for them elsewhere. */
    bool                  near : 1;        /* ahead.h; enqueuing a node clears `near` */
    union {
        bool              pending;         /* of a ticket: callbacks.c */
        _Atomic uint8_t   strategy;        /* of a thread: enum fs_strategy, awake.h */
    };
    int16_t               core;            /* core of the thread when enqueued; FS_NO_CORE: a ticket */
};

struct fs_waitq {
    struct fs_waitq_node *front;           /* the first node; in a queue by age: the oldest; NULL if empty */
    struct fs_tree_node  *root;
    uint64_t              next_seq;
};

/* A zeroed struct fs_waitq is an empty queue. */

static inline struct fs_waitq_node *fs_waitq_node_of(struct fs_tree_node *in_tree)
{
    static_assert(offsetof(struct fs_waitq_node, in_tree) == 0, "NULL must be NULL");
    return (struct fs_waitq_node *)(void *)in_tree;
}

/* The priority of a call that must not pass a waiter of any priority, for instance a try. */
#define FS_LAST_PRIORITY INT32_MAX

/* Give the node a sequence number, and enqueue it behind all nodes of the same or a better priority. */
void fs_waitq_enqueue(struct fs_waitq *queue, struct fs_waitq_node *node, int priority);

void fs_waitq_dequeue(struct fs_waitq *queue, struct fs_waitq_node *node);

/* Enqueue or dequeue in a queue by age.  A new node also goes behind all aged nodes. */
void fs_waitq_enqueue_by_age(struct fs_waitq *queue, struct fs_waitq_node *node, int priority);
void fs_waitq_dequeue_by_age(struct fs_waitq *queue, struct fs_waitq_node *node);

static inline struct fs_waitq_node *fs_waitq_next_in_ring(const struct fs_waitq_node *node)
{
    return (struct fs_waitq_node *)(void *)((char *)node->in_ring.next
                                            - offsetof(struct fs_waitq_node, in_ring));
}

/* Returns the node behind this one, or NULL after the last. */
struct fs_waitq_node *fs_waitq_behind(const struct fs_waitq *queue,
                                      const struct fs_waitq_node *node);

/*
 * For a leader: returns the oldest node of the next priority, or NULL.  In a queue by age, for any node:
 * returns the next node by priority that has not aged, or NULL.
 */
struct fs_waitq_node *fs_waitq_next_in_tree(const struct fs_waitq *queue,
                                            const struct fs_waitq_node *node);

/* For a queue by age: returns the node that arrived next, or NULL after the last. */
struct fs_waitq_node *fs_waitq_younger(const struct fs_waitq *queue,
                                       const struct fs_waitq_node *node);

/* Returns the first node by priority, aged or not. */
struct fs_waitq_node *fs_waitq_best(const struct fs_waitq *queue);

/* ---- The rings of one flow, share.h: never by age ---- */

/* Enqueue or dequeue a node whose sequence number and priority are set. */
void fs_rings_enqueue(struct fs_tree_node **rings, struct fs_waitq_node *node);
void fs_rings_dequeue(struct fs_tree_node **rings, struct fs_waitq_node *node);

/* Returns the oldest node of the best priority, or NULL. */
static inline struct fs_waitq_node *fs_rings_first(struct fs_tree_node *rings)
{
    return fs_waitq_node_of(fs_tree_first(rings));
}

/* For a leader: returns the oldest node of the next priority, or NULL. */
struct fs_waitq_node *fs_rings_next(struct fs_tree_node *rings, const struct fs_waitq_node *leader);

/* ---- */

static inline bool fs_waitq_empty(const struct fs_waitq *queue)
{
    return queue->front == NULL;
}

static inline struct fs_waitq_node *fs_waitq_first(const struct fs_waitq *queue)
{
    if (queue->front == NULL || (queue->front->kind & FS_NOT_AGED) == 0)
        return queue->front;
    return fs_waitq_best(queue);
}

/* Would a new node of this priority be the first? */
static inline bool fs_waitq_takes_precedence(const struct fs_waitq *queue, int priority)
{
    const struct fs_waitq_node *first = fs_waitq_first(queue);

    return first == NULL || (first->kind != FS_AGED && priority < first->priority);
}

#endif
