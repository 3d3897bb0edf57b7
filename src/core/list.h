/* SPDX-License-Identifier: MIT */
/*
 * list.h - circular lists: with a head node, or rings, of which the owner knows the oldest node.
 *
 * Nodes are appended at the end, and removed from anywhere.  Removing a node from a list does not need the
 * head.
 */
#ifndef FS_LIST_H
#define FS_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct fs_list {
    struct fs_list *next, *prev;
};

/* ---- A list: its head is a node that is not a member ---- */

static inline void fs_list_init(struct fs_list *head)
{
    head->next = head->prev = head;
}

static inline bool fs_list_empty(const struct fs_list *head)
{
    return head->next == head;
}

static inline void fs_list_append(struct fs_list *head, struct fs_list *node)
{
    node->next = head;
    node->prev = head->prev;
    head->prev->next = node;
    head->prev = node;
}

static inline void fs_list_remove(struct fs_list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
}

static inline void fs_list_move_all(struct fs_list *to, struct fs_list *from)
{
    if (fs_list_empty(from))
        return;
    from->next->prev = to->prev;
    from->prev->next = to;
    to->prev->next = from->next;
    to->prev = from->prev;
    fs_list_init(from);
}

/* ---- A ring without a head: a pointer to its oldest node, NULL if there is none ---- */

static inline void fs_ring_append(struct fs_list **oldest, struct fs_list *node)
{
    if (*oldest != NULL) {
        fs_list_append(*oldest, node);
    } else {
        fs_list_init(node);
        *oldest = node;
    }
}

static inline void fs_ring_remove(struct fs_list **oldest, struct fs_list *node)
{
    if (fs_list_empty(node))
        *oldest = NULL;
    else if (*oldest == node)
        *oldest = node->next;
    fs_list_remove(node);
}

#endif
