/* SPDX-License-Identifier: MIT */
/*
 * waitq.h - the line: nodes ordered by (priority, ticket), lower first.
 *
 * A node's ticket is its arrival number.  The line knows nothing of semaphores, units or
 * threads; it does not lock and it does not allocate: the nodes are the caller's.
 *
 *     first -> [leader of priority -5] <-> [..] <-> [..]     (a ring, oldest first)
 *                  | worse      ^ better
 *                  v            |
 *              [leader of priority 0]  <-> [..]
 *
 * The nodes of one priority form a ring whose oldest member is the leader, so the
 * youngest is leader->prev.  The leaders form a list from the best priority to the
 * worst.  Joining walks the leaders only: one step per distinct priority that waits, and
 * no step at all where all are equal.  Leaving is O(1) from anywhere: a leader hands its
 * place in the list to the next node of its ring.
 */
#ifndef FS_WAITQ_H
#define FS_WAITQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fs_waitq_node {
    struct fs_waitq_node *next, *prev;     /* the ring of equal priority */
    struct fs_waitq_node *better, *worse;  /* leader only: neighbors in the list of leaders */
    uint64_t ticket;
    int      priority;
    bool     leader;
};

struct fs_waitq {
    struct fs_waitq_node *first;           /* NULL: nobody waits */
    uint64_t next_ticket;
};

/* All zero is an empty line. */

/* Take a ticket and join behind all of the same or a better priority. */
void fs_waitq_join(struct fs_waitq *line, struct fs_waitq_node *node, int priority);

/* Leave, from anywhere.  The node must be in this line. */
void fs_waitq_leave(struct fs_waitq *line, struct fs_waitq_node *node);

/* The node that stands behind this one; NULL after the last. */
struct fs_waitq_node *fs_waitq_behind(const struct fs_waitq_node *node);

static inline bool fs_waitq_empty(const struct fs_waitq *line)
{
    return line->first == NULL;
}

/* Would a newcomer of this priority be the head? */
static inline bool fs_waitq_leads(const struct fs_waitq *line, int priority)
{
    return line->first == NULL || priority < line->first->priority;
}

#endif
