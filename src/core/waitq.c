/* SPDX-License-Identifier: MIT */
/* waitq.c - the wait queue: a tree of rings, see waitq.h. */
#include "waitq.h"

/*
 * The height of a priority in the tree.  The hash is the finalizer of MurmurHash3 (Austin Appleby):
 * one-to-one, so two leaders are never equally high.  The queue's address makes the tree different
 * for each queue, so that nobody can unbalance it by a choice of priorities.
 */
static uint32_t height(const struct fs_waitq *queue, int priority)
{
    uint32_t h = (uint32_t)priority ^ (uint32_t)((uintptr_t)queue >> 4);

    h ^= h >> 16;
    h *= UINT32_C(0x85ebca6b);
    h ^= h >> 13;
    h *= UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

/* The link that points to the leader of this priority; or the NULL link where it would be. */
static struct fs_waitq_node **link_to(struct fs_waitq *queue, int priority)
{
    struct fs_waitq_node **link = &queue->root;

    while (*link != NULL && (*link)->priority != priority)
        link = priority < (*link)->priority ? &(*link)->better : &(*link)->worse;
    return link;
}

/* Split the subtree `at` into the two children of the new leader, which takes its place. */
static void split(struct fs_waitq_node *at, struct fs_waitq_node *leader)
{
    struct fs_waitq_node **better = &leader->better, **worse = &leader->worse;

    while (at != NULL) {
        if (at->priority < leader->priority) {
            *better = at;
            better = &at->worse;
            at = at->worse;
        } else {
            *worse = at;
            worse = &at->better;
            at = at->better;
        }
    }
    *better = *worse = NULL;
}

static void insert_leader(struct fs_waitq *queue, struct fs_waitq_node *leader)
{
    struct fs_waitq_node **link = &queue->root, *at = *link;

    if (at != NULL) {
        uint32_t h = height(queue, leader->priority);

        for (; at != NULL && height(queue, at->priority) > h; at = *link)
            link = leader->priority < at->priority ? &at->better : &at->worse;
    }
    split(at, leader);
    *link = leader;
    leader->leader = true;
    if (fs_waitq_leads(queue, leader->priority))
        queue->first = leader;
}

static struct fs_waitq_node *best_below(struct fs_waitq_node *at)
{
    while (at != NULL && at->better != NULL)
        at = at->better;
    return at;
}

/* Merge the two subtrees of the leader, to take its place. */
static void remove_leader(struct fs_waitq *queue, struct fs_waitq_node *leader)
{
    struct fs_waitq_node **link = link_to(queue, leader->priority);
    struct fs_waitq_node *better = leader->better, *worse = leader->worse;

    while (better != NULL && worse != NULL) {
        if (height(queue, better->priority) > height(queue, worse->priority)) {
            *link = better;
            link = &better->worse;
            better = *link;
        } else {
            *link = worse;
            link = &worse->better;
            worse = *link;
        }
    }
    *link = better != NULL ? better : worse;
    if (queue->first == leader)
        queue->first = best_below(queue->root);
}

/* `next`, from the same ring, becomes the leader. */
static void replace_leader(struct fs_waitq *queue, struct fs_waitq_node *leader,
                           struct fs_waitq_node *next)
{
    next->leader = true;
    next->better = leader->better;
    next->worse = leader->worse;
    *link_to(queue, leader->priority) = next;
    if (queue->first == leader)
        queue->first = next;
}

static struct fs_waitq_node *next_in_ring(const struct fs_waitq_node *node)
{
    return (struct fs_waitq_node *)(void *)node->in_ring.next;
}

void fs_waitq_join(struct fs_waitq *queue, struct fs_waitq_node *node, int priority)
{
    struct fs_waitq_node *leader = *link_to(queue, priority);

    node->priority = priority;
    node->seq = queue->next_seq++;
    if (leader != NULL) {
        node->leader = false;
        fs_list_append(&leader->in_ring, &node->in_ring);
    } else {
        fs_list_init(&node->in_ring);
        insert_leader(queue, node);
    }
}

void fs_waitq_leave(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    if (fs_list_empty(&node->in_ring)) {
        remove_leader(queue, node);
        return;
    }
    fs_list_remove(&node->in_ring);
    if (node->leader)
        replace_leader(queue, node, next_in_ring(node));
}

struct fs_waitq_node *fs_waitq_next_priority(const struct fs_waitq *queue,
                                             const struct fs_waitq_node *leader)
{
    struct fs_waitq_node *next = NULL, *at = queue->root;

    while (at != NULL) {
        if (at->priority > leader->priority) {
            next = at;
            at = at->better;
        } else {
            at = at->worse;
        }
    }
    return next;
}

struct fs_waitq_node *fs_waitq_behind(const struct fs_waitq *queue,
                                      const struct fs_waitq_node *node)
{
    struct fs_waitq_node *next = next_in_ring(node);

    return next->leader ? fs_waitq_next_priority(queue, next) : next;   /* the ring is closed */
}
