/* SPDX-License-Identifier: MIT */
/*
 * waitq.h - the wait queue: nodes ordered by (priority, sequence number), lower first.
 *
 * The sequence number is the arrival number.  The queue knows nothing of semaphores, units or
 * threads; it does not lock and it does not allocate: the nodes are the caller's.
 *
 *      root -> [leader of priority 0]                    (each leader: a ring, oldest first)
 *               better /          \ worse
 *     [leader of priority -5]    [leader of priority 9]
 *
 * The nodes of one priority form a ring.  Its oldest node is the leader, so the youngest one is
 * the node before the leader.  The leaders form a search tree by priority.  Joining and leaving
 * take constant time if all priorities are equal; otherwise the time grows with the logarithm of
 * the number of different priorities in the queue.
 *
 * The tree is balanced by chance, as a treap is (Seidel and Aragon, 1996): a leader is above
 * another one if the hash of its priority is larger.  So a node stores neither its balance nor a
 * pointer to its parent: inserting splits one path of the tree and removing merges two, from the
 * top down (as in the zip trees of Tarjan, Levy and Timmel, 2019).
 */
#ifndef FS_WAITQ_H
#define FS_WAITQ_H

#include "list.h"

#include <stdint.h>

struct fs_waitq_node {
    struct fs_list        in_ring;         /* the ring of equal priority; first */
    struct fs_waitq_node *better, *worse;  /* leader only: its children in the tree */
    uint64_t              seq;
    int                   priority;
    bool                  leader;
    /* For the owner of the node, not used by the queue: a ticket has no room elsewhere. */
    union {
        bool              due;             /* of a ticket: callbacks.c */
        _Atomic bool      yields;          /* of a thread that is woken early: queueing.c */
    };
    int16_t               core;            /* queueing.c */
};

struct fs_waitq {
    struct fs_waitq_node *first;           /* NULL: nobody waits */
    struct fs_waitq_node *root;            /* the tree of leaders */
    uint64_t              next_seq;
};

/* All zero is an empty queue. */

/* Take a sequence number, and join behind all nodes of the same or a better priority. */
void fs_waitq_join(struct fs_waitq *queue, struct fs_waitq_node *node, int priority);

/* Leave, from anywhere.  The node must be in this queue. */
void fs_waitq_leave(struct fs_waitq *queue, struct fs_waitq_node *node);

/* The node behind this one; NULL after the last. */
struct fs_waitq_node *fs_waitq_behind(const struct fs_waitq *queue,
                                      const struct fs_waitq_node *node);

/* The same among leaders: the oldest node of the next priority. */
struct fs_waitq_node *fs_waitq_next_priority(const struct fs_waitq *queue,
                                             const struct fs_waitq_node *leader);

static inline bool fs_waitq_empty(const struct fs_waitq *queue)
{
    return queue->first == NULL;
}

/* Would a newcomer of this priority be the head? */
static inline bool fs_waitq_leads(const struct fs_waitq *queue, int priority)
{
    return queue->first == NULL || priority < queue->first->priority;
}

#endif
