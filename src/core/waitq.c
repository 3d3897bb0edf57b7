/* SPDX-License-Identifier: MIT */
/* waitq.c - the wait queue: a tree of rings or, in a queue by age, a tree and a ring; see waitq.h. */
#include "waitq.h"

static bool is_by_age(const struct fs_waitq_node *node)
{
    return node->kind >= FS_AGED;
}

static const struct fs_waitq_node *node_in(const struct fs_tree_node *in_tree)
{
    return (const struct fs_waitq_node *)(const void *)in_tree;
}

/*
 * A hash of a key that no two nodes of the tree share: a leader's priority; in a queue by age, the sequence
 * number.
 */
static uint32_t node_height(struct fs_tree_node *const *root, const struct fs_tree_node *in_tree)
{
    const struct fs_waitq_node *node = node_in(in_tree);

    return fs_tree_hash(root, is_by_age(node) ? (uint32_t)node->seq : (uint32_t)node->priority);
}

static bool is_better(const struct fs_waitq_node *a, const struct fs_waitq_node *b)
{
    return a->priority != b->priority ? a->priority < b->priority : a->seq < b->seq;
}

static bool is_better_in_tree(const struct fs_tree_node *a, const struct fs_tree_node *b)
{
    return is_better(node_in(a), node_in(b));
}

static struct fs_waitq_node *leader_of(struct fs_tree_node *rings, int priority)
{
    struct fs_waitq_node *at = fs_waitq_node_of(rings);

    while (at != NULL && at->priority != priority)
        at = fs_waitq_node_of(priority < at->priority ? at->in_tree.better : at->in_tree.worse);
    return at;
}

static void insert_below(struct fs_tree_node **root, struct fs_tree_node *node)
{
    fs_tree_insert(root, node, is_better_in_tree, node_height);
}

/* Most queues have one priority, so most trees have a single node. */
static inline void insert_in_tree(struct fs_tree_node **root, struct fs_waitq_node *node)
{
    if (*root != NULL) {
        insert_below(root, &node->in_tree);
    } else {
        node->in_tree.better = node->in_tree.worse = NULL;
        *root = &node->in_tree;
    }
}

static void remove_below(struct fs_tree_node **root, struct fs_tree_node *node)
{
    fs_tree_remove(root, node, is_better_in_tree, node_height);
}

static inline void remove_from_tree(struct fs_tree_node **root, struct fs_waitq_node *node)
{
    if (*root == &node->in_tree && node->in_tree.better == NULL && node->in_tree.worse == NULL)
        *root = NULL;
    else
        remove_below(root, &node->in_tree);
}

/* ---- By priority ---- */

/* Set both bit-fields together: that is a single store. */
static inline void set_kind(struct fs_waitq_node *node, enum fs_waitq_kind kind)
{
    node->kind = (unsigned)kind & 0x7f;
    node->near = false;
}

static inline void follow(struct fs_waitq_node *leader, struct fs_waitq_node *node)
{
    set_kind(node, FS_FOLLOWS);
    fs_list_append(&leader->in_ring, &node->in_ring);
}

static inline void lead(struct fs_tree_node **rings, struct fs_waitq_node *node)
{
    fs_list_init(&node->in_ring);
    set_kind(node, FS_LEADS);
    insert_in_tree(rings, node);
}

void fs_rings_enqueue(struct fs_tree_node **rings, struct fs_waitq_node *node)
{
    struct fs_waitq_node *leader = leader_of(*rings, node->priority);

    if (leader != NULL)
        follow(leader, node);
    else
        lead(rings, node);
}

static void replace_leader(struct fs_tree_node **rings, struct fs_waitq_node *leader,
                           struct fs_waitq_node *next)
{
    next->kind = FS_LEADS;
    next->in_tree = leader->in_tree;
    *fs_tree_link_to(rings, &leader->in_tree, is_better_in_tree) = &next->in_tree;
}

static inline void dequeue_from_ring(struct fs_tree_node **rings, struct fs_waitq_node *node,
                                     struct fs_waitq_node *next)
{
    fs_list_remove(&node->in_ring);
    if (next == node)
        remove_from_tree(rings, node);
    else if (node->kind == FS_LEADS)
        replace_leader(rings, node, next);
}

void fs_rings_dequeue(struct fs_tree_node **rings, struct fs_waitq_node *node)
{
    dequeue_from_ring(rings, node, fs_waitq_next_in_ring(node));
}

struct fs_waitq_node *fs_rings_next(struct fs_tree_node *rings, const struct fs_waitq_node *leader)
{
    return fs_waitq_node_of(fs_tree_next(rings, &leader->in_tree, is_better_in_tree));
}

/* ---- By age ---- */

void fs_waitq_enqueue_by_age(struct fs_waitq *queue, struct fs_waitq_node *node, int priority)
{
    node->priority = priority;
    node->seq = queue->next_seq++;
    set_kind(node, FS_NOT_AGED);
    insert_in_tree(&queue->root, node);
    if (queue->front != NULL) {
        fs_list_append(&queue->front->in_ring, &node->in_ring);
    } else {
        fs_list_init(&node->in_ring);
        queue->front = node;
    }
}

void fs_waitq_dequeue_by_age(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    remove_from_tree(&queue->root, node);
    if (queue->front == node)
        queue->front = fs_list_empty(&node->in_ring) ? NULL : fs_waitq_next_in_ring(node);
    fs_list_remove(&node->in_ring);
}

/* ---- The queue ---- */

void fs_waitq_enqueue(struct fs_waitq *queue, struct fs_waitq_node *node, int priority)
{
    struct fs_waitq_node *leader = leader_of(queue->root, priority);

    node->priority = priority;
    node->seq = queue->next_seq++;
    if (leader != NULL) {
        follow(leader, node);
        return;
    }
    lead(&queue->root, node);
    if (queue->front == NULL || is_better(node, queue->front))
        queue->front = node;
}

void fs_waitq_dequeue(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    struct fs_waitq_node *next = fs_waitq_next_in_ring(node);

    dequeue_from_ring(&queue->root, node, next);
    if (queue->front == node)
        queue->front = next != node ? next : fs_rings_first(queue->root);
}

struct fs_waitq_node *fs_waitq_best(const struct fs_waitq *queue)
{
    return fs_rings_first(queue->root);
}

struct fs_waitq_node *fs_waitq_next_in_tree(const struct fs_waitq *queue,
                                            const struct fs_waitq_node *node)
{
    struct fs_waitq_node *next = fs_rings_next(queue->root, node);

    while (next != NULL && next->kind == FS_AGED)
        next = fs_rings_next(queue->root, next);
    return next;
}

struct fs_waitq_node *fs_waitq_younger(const struct fs_waitq *queue,
                                       const struct fs_waitq_node *node)
{
    return fs_waitq_next_in_ring(node) != queue->front ? fs_waitq_next_in_ring(node) : NULL;
}

/* Behind the last aged node comes the first node by priority that has not aged. */
static struct fs_waitq_node *behind_by_age(const struct fs_waitq *queue,
                                           const struct fs_waitq_node *node)
{
    struct fs_waitq_node *younger = fs_waitq_younger(queue, node), *best;

    if (node->kind == FS_NOT_AGED)
        return fs_waitq_next_in_tree(queue, node);
    if (younger != NULL && younger->kind == FS_AGED)
        return younger;
    best = fs_waitq_best(queue);
    return best != NULL && best->kind == FS_AGED ? fs_waitq_next_in_tree(queue, best) : best;
}

struct fs_waitq_node *fs_waitq_behind(const struct fs_waitq *queue,
                                      const struct fs_waitq_node *node)
{
    struct fs_waitq_node *next = fs_waitq_next_in_ring(node);

    if (is_by_age(node))
        return behind_by_age(queue, node);
    return next->kind == FS_LEADS ? fs_waitq_next_in_tree(queue, next) : next;
}
