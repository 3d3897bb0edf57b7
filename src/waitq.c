/* SPDX-License-Identifier: MIT */
/* waitq.c - the line: a list of rings, see waitq.h. */
#include "waitq.h"

/* Put `leader` into the list of leaders between two neighbors, either of which may be NULL. */
static void link_leader(struct fs_waitq *line, struct fs_waitq_node *leader,
                        struct fs_waitq_node *better, struct fs_waitq_node *worse)
{
    leader->leader = true;
    leader->better = better;
    leader->worse = worse;
    if (better != NULL)
        better->worse = leader;
    else
        line->first = leader;
    if (worse != NULL)
        worse->better = leader;
}

static void unlink_leader(struct fs_waitq *line, struct fs_waitq_node *leader)
{
    if (leader->better != NULL)
        leader->better->worse = leader->worse;
    else
        line->first = leader->worse;
    if (leader->worse != NULL)
        leader->worse->better = leader->better;
}

void fs_waitq_join(struct fs_waitq *line, struct fs_waitq_node *node, int priority)
{
    struct fs_waitq_node *better = NULL, *at = line->first;

    node->priority = priority;
    node->ticket = line->next_ticket++;
    node->leader = false;
    while (at != NULL && at->priority < priority) {
        better = at;
        at = at->worse;
    }
    if (at != NULL && at->priority == priority) {
        node->next = at;
        node->prev = at->prev;
        at->prev->next = node;
        at->prev = node;
    } else {
        node->next = node->prev = node;
        link_leader(line, node, better, at);
    }
}

void fs_waitq_leave(struct fs_waitq *line, struct fs_waitq_node *node)
{
    if (node->next == node) {
        unlink_leader(line, node);
        return;
    }
    node->prev->next = node->next;
    node->next->prev = node->prev;
    if (node->leader)
        link_leader(line, node->next, node->better, node->worse);
}

struct fs_waitq_node *fs_waitq_behind(const struct fs_waitq_node *node)
{
    if (!node->next->leader)
        return node->next;
    return node->next->worse;   /* the ring is closed: node->next is its leader */
}
