/* SPDX-License-Identifier: MIT */
/*
 * list.h - a ring of nodes around a head that is no node: enough to join at the end and to leave
 * from anywhere, without knowing in which list.
 */
#ifndef FS_LIST_H
#define FS_LIST_H

#include <stdbool.h>

struct fs_list {
    struct fs_list *next, *prev;
};

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

/* All that `from` has goes behind what `to` has. */
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

#endif
