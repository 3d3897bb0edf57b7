/* SPDX-License-Identifier: MIT */
/* waitq.c - the wait queue: a tree of rings, or, by age, a tree and a ring; see waitq.h. */
#include "waitq.h"

static bool is_by_age(const struct fs_waitq_node *node)
{
    return node->kind >= FS_YOUNG;
}

/*
 * The height of a node in the tree.  The hash is the finalizer of MurmurHash3 (Austin Appleby):
 * one-to-one, so two leaders are never equally high.  The queue's address makes the tree different
 * for each queue, so that nobody can unbalance it by a choice of priorities.
 */
static uint32_t height(const struct fs_waitq *queue, const struct fs_waitq_node *node)
{
    uint32_t h = is_by_age(node) ? (uint32_t)node->seq : (uint32_t)node->priority;

    h ^= (uint32_t)((uintptr_t)queue >> 4);
    h ^= h >> 16;
    h *= UINT32_C(0x85ebca6b);
    h ^= h >> 13;
    h *= UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

/* The order of the tree.  (The priorities of two leaders differ.) */
static bool is_better(const struct fs_waitq_node *a, const struct fs_waitq_node *b)
{
    return a->priority != b->priority ? a->priority < b->priority : a->seq < b->seq;
}

/* The link that points to this node of the tree. */
static struct fs_waitq_node **link_to(struct fs_waitq *queue, const struct fs_waitq_node *node)
{
    struct fs_waitq_node **link = &queue->root;

    while (*link != node)
        link = is_better(node, *link) ? &(*link)->better : &(*link)->worse;
    return link;
}

static struct fs_waitq_node *leader_of(const struct fs_waitq *queue, int priority)
{
    struct fs_waitq_node *at = queue->root;

    while (at != NULL && at->priority != priority)
        at = priority < at->priority ? at->better : at->worse;
    return at;
}

/* Split the subtree `at` into the two children of the new node, which takes its place. */
static void split(struct fs_waitq_node *at, struct fs_waitq_node *node)
{
    struct fs_waitq_node **better = &node->better, **worse = &node->worse;

    while (at != NULL) {
        if (is_better(at, node)) {
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

/* The tree has a root already. */
static void insert_below(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    struct fs_waitq_node **link = &queue->root, *at;
    uint32_t h = height(queue, node);

    for (at = *link; at != NULL && height(queue, at) > h; at = *link)
        link = is_better(node, at) ? &at->better : &at->worse;
    split(at, node);
    *link = node;
}

/* Most queues have one priority, so most trees have a single node. */
static inline void insert_in_tree(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    if (queue->root != NULL) {
        insert_below(queue, node);
    } else {
        node->better = node->worse = NULL;
        queue->root = node;
    }
}

static inline struct fs_waitq_node *best_below(struct fs_waitq_node *at)
{
    while (at != NULL && at->better != NULL)
        at = at->better;
    return at;
}

/* Merge the two subtrees of the node, to take its place. */
static void merge_below(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    struct fs_waitq_node **link = link_to(queue, node);
    struct fs_waitq_node *better = node->better, *worse = node->worse;

    while (better != NULL && worse != NULL) {
        if (height(queue, better) > height(queue, worse)) {
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
}

static inline void remove_from_tree(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    if (queue->root == node && node->better == NULL && node->worse == NULL)
        queue->root = NULL;
    else
        merge_below(queue, node);
}

static struct fs_waitq_node *next_in_ring(const struct fs_waitq_node *node)
{
    return (struct fs_waitq_node *)(void *)node->in_ring.next;
}

/* `next`, from the same ring, becomes the leader. */
static void replace_leader(struct fs_waitq *queue, struct fs_waitq_node *leader,
                           struct fs_waitq_node *next)
{
    next->kind = FS_LEADS;
    next->better = leader->better;
    next->worse = leader->worse;
    *link_to(queue, leader) = next;
    if (queue->front == leader)
        queue->front = next;
}

static void enqueue_by_age(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    node->kind = FS_YOUNG;
    insert_in_tree(queue, node);
    if (queue->front != NULL) {
        fs_list_append(&queue->front->in_ring, &node->in_ring);
    } else {
        fs_list_init(&node->in_ring);
        queue->front = node;
    }
}

static void enqueue_behind_its_priority(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    struct fs_waitq_node *leader = leader_of(queue, node->priority);

    if (leader != NULL) {
        node->kind = FS_FOLLOWS;
        fs_list_append(&leader->in_ring, &node->in_ring);
        return;
    }
    fs_list_init(&node->in_ring);
    node->kind = FS_LEADS;
    insert_in_tree(queue, node);
    if (queue->front == NULL || is_better(node, queue->front))
        queue->front = node;
}

void fs_waitq_enqueue(struct fs_waitq *queue, struct fs_waitq_node *node, int priority, bool by_age)
{
    node->priority = priority;
    node->seq = queue->next_seq++;
    if (by_age)
        enqueue_by_age(queue, node);
    else
        enqueue_behind_its_priority(queue, node);
}

static void dequeue_by_age(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    remove_from_tree(queue, node);
    if (queue->front == node)
        queue->front = fs_list_empty(&node->in_ring) ? NULL : next_in_ring(node);
    fs_list_remove(&node->in_ring);
}

static void dequeue_of_its_priority(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    if (fs_list_empty(&node->in_ring)) {
        remove_from_tree(queue, node);
        if (queue->front == node)
            queue->front = best_below(queue->root);
        return;
    }
    fs_list_remove(&node->in_ring);
    if (node->kind == FS_LEADS)
        replace_leader(queue, node, next_in_ring(node));
}

void fs_waitq_dequeue(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    if (is_by_age(node))
        dequeue_by_age(queue, node);
    else
        dequeue_of_its_priority(queue, node);
}

struct fs_waitq_node *fs_waitq_best(const struct fs_waitq *queue)
{
    return best_below(queue->root);
}

struct fs_waitq_node *fs_waitq_next_in_tree(const struct fs_waitq *queue,
                                            const struct fs_waitq_node *node)
{
    struct fs_waitq_node *next, *at;

    do {
        next = NULL;
        at = queue->root;
        while (at != NULL) {
            if (is_better(node, at)) {
                next = at;
                at = at->better;
            } else {
                at = at->worse;
            }
        }
        node = next;
    } while (next != NULL && next->kind == FS_OLD);
    return next;
}

struct fs_waitq_node *fs_waitq_younger(const struct fs_waitq *queue,
                                       const struct fs_waitq_node *node)
{
    return next_in_ring(node) != queue->front ? next_in_ring(node) : NULL;
}

/* From the last of the old ones, on to the best of the others. */
static struct fs_waitq_node *behind_by_age(const struct fs_waitq *queue,
                                           const struct fs_waitq_node *node)
{
    struct fs_waitq_node *younger = fs_waitq_younger(queue, node), *best;

    if (node->kind == FS_YOUNG)
        return fs_waitq_next_in_tree(queue, node);
    if (younger != NULL && younger->kind == FS_OLD)
        return younger;
    best = fs_waitq_best(queue);
    return best != NULL && best->kind == FS_OLD ? fs_waitq_next_in_tree(queue, best) : best;
}

struct fs_waitq_node *fs_waitq_behind(const struct fs_waitq *queue,
                                      const struct fs_waitq_node *node)
{
    struct fs_waitq_node *next = next_in_ring(node);

    if (is_by_age(node))
        return behind_by_age(queue, node);
    /* The ring is closed. */
    return next->kind == FS_LEADS ? fs_waitq_next_in_tree(queue, next) : next;
}
