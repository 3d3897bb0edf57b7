/* SPDX-License-Identifier: MIT */
/*
 * tree.h - a search tree of nodes that the caller owns, in the order that the caller defines.
 *
 * The tree is balanced by chance, as a treap is (Seidel and Aragon, 1996).  Each node has a height, a hash
 * that the caller computes, and higher nodes are above lower ones.  Inserting splits one path of the tree,
 * and removing merges two paths, from the top down (as in the zip trees of Tarjan, Levy and Timmel, 2019).
 * So a node stores neither a balance nor a pointer to its parent.
 *
 * is_before() must be a total order of the nodes in the tree, and hardly any two heights should be equal.
 * The functions of this header are inlined, with the is_before() and height() that the caller passes.
 */
#ifndef FS_TREE_H
#define FS_TREE_H

#include "tools/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fs_tree_node {
    struct fs_tree_node *better, *worse;    /* subtrees: nodes before this one, and after it */
};

typedef bool fs_tree_before_fn(const struct fs_tree_node *a, const struct fs_tree_node *b);

/*
 * The height depends on the root's address, so that nobody can predict the shape of a tree, and unbalance it
 * on purpose.
 */
typedef uint32_t fs_tree_height_fn(struct fs_tree_node *const *root, const struct fs_tree_node *node);

/*
 * A hash for heights: the finalizer of MurmurHash3 (Austin Appleby), which is one-to-one.  So two nodes of
 * a tree that have different keys never have equal heights.
 */
static inline uint32_t fs_tree_hash(struct fs_tree_node *const *root, uint32_t key)
{
    uint32_t h = key ^ (uint32_t)((uintptr_t)root >> 4);

    h ^= h >> 16;
    h *= UINT32_C(0x85ebca6b);
    h ^= h >> 13;
    h *= UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

FS_ALWAYS_INLINE static struct fs_tree_node **fs_tree_link_to(
    struct fs_tree_node **root, const struct fs_tree_node *node, fs_tree_before_fn *is_before)
{
    struct fs_tree_node **link = root;

    while (*link != node)
        link = is_before(node, *link) ? &(*link)->better : &(*link)->worse;
    return link;
}

FS_ALWAYS_INLINE static void fs_tree_insert(struct fs_tree_node **root, struct fs_tree_node *node,
                                            fs_tree_before_fn *is_before, fs_tree_height_fn *height)
{
    struct fs_tree_node **link = root, **better = &node->better, **worse = &node->worse, *at;
    uint32_t h = height(root, node);

    for (at = *link; at != NULL && height(root, at) > h; at = *link)
        link = is_before(node, at) ? &at->better : &at->worse;
    *link = node;
    /* The node takes the place of the subtree `at`, which is split into the two children of the node. */
    while (at != NULL) {
        if (is_before(node, at)) {
            *worse = at;
            worse = &at->better;
            at = at->better;
        } else {
            *better = at;
            better = &at->worse;
            at = at->worse;
        }
    }
    *better = *worse = NULL;
}

/* Replace the node at *link by its two subtrees, merged. */
FS_ALWAYS_INLINE static void fs_tree_replace_by_children(
    struct fs_tree_node **root, struct fs_tree_node **link, fs_tree_height_fn *height)
{
    struct fs_tree_node *better = (*link)->better, *worse = (*link)->worse;

    while (better != NULL && worse != NULL) {
        if (height(root, better) > height(root, worse)) {
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

FS_ALWAYS_INLINE static void fs_tree_remove(struct fs_tree_node **root, struct fs_tree_node *node,
                                            fs_tree_before_fn *is_before, fs_tree_height_fn *height)
{
    fs_tree_replace_by_children(root, fs_tree_link_to(root, node, is_before), height);
}

static inline struct fs_tree_node *fs_tree_first(struct fs_tree_node *root)
{
    while (root != NULL && root->better != NULL)
        root = root->better;
    return root;
}

/* Returns the first node after `node`, which need not be in the tree, or NULL if there is none. */
FS_ALWAYS_INLINE static struct fs_tree_node *fs_tree_next(
    struct fs_tree_node *root, const struct fs_tree_node *node, fs_tree_before_fn *is_before)
{
    struct fs_tree_node *next = NULL;

    while (root != NULL) {
        if (is_before(node, root)) {
            next = root;
            root = root->better;
        } else {
            root = root->worse;
        }
    }
    return next;
}

#endif
