/* SPDX-License-Identifier: MIT */
/* oracles.h - what oracles.c and waiters.c share. */
#ifndef XP_ORACLES_H
#define XP_ORACLES_H

#include "explorer.h"

#include "section.h"

enum { WAITERS_MAX = 12 };

/* The time when a request ages, or a far one if that would overflow. */
int64_t ages_at_ns(const struct fs_waiter *w);

static inline struct fs_sem *sem_inside(int i)
{
    return (struct fs_sem *)(void *)&sems[i];
}

static inline int mutex_owner(int i)
{
    return *(int *)(void *)&sem_inside(i)->mutex;
}

static inline bool i_own(int i)
{
    return self != NULL && mutex_owner(i) == id_of(self) + 1;
}

/* The semaphore to which this memory belongs, or -1. */
static inline int sem_at(const void *at)
{
    size_t offset = (size_t)((const char *)at - (const char *)sems);

    return offset < sizeof sems ? (int)(offset / sizeof sems[0]) : -1;
}

/* The available units in the word. */
static inline int64_t available(int i)
{
    return fs_word_available(*(volatile int64_t *)&sem_inside(i)->word);
}

/* Is the waiter awake, or about to be woken, so that it will load its state by itself? */
static inline bool is_on_its_way(const struct fs_waiter *w)
{
    int state = *(volatile const int *)&w->state;

    return state == FS_WOKEN || state == FS_QUEUED;
}

/* Bounds of the available units, by the results so far. */
struct bounds { int64_t low, high; };
struct bounds bounds_of(int i);
void bounds_check(int i);       /* whenever the mutex is free */
void bounds_check_end(int i);

/* The share to which this memory belongs, from 0 on, or -1. */
static inline int share_at(const void *at)
{
    size_t offset = (size_t)((const char *)at - (const char *)shares);

    return offset < sizeof shares ? (int)(offset / sizeof shares[0]) : -1;
}

static inline bool same_share(const struct fs_waitq_node *node, const struct fs_waitq_node *other)
{
    const struct fs_waiter *w = (const struct fs_waiter *)(const void *)node, *before = (const void *)other;

    return w->share == before->share;
}

/* Must the first node be granted before the other one?  Of one share. */
static inline bool goes_first(const struct fs_waitq_node *node, const struct fs_waitq_node *other)
{
    if ((node->kind == FS_AGED) != (other->kind == FS_AGED))
        return node->kind == FS_AGED;
    if (node->priority != other->priority && node->kind != FS_AGED)
        return node->priority < other->priority;
    return node->seq < other->seq;
}

/* List the queue in order, without the library's functions, which are under test. */
int walk_queue(int i, const struct fs_waitq_node *node[WAITERS_MAX]);

/* Check that the memory is not on a stack that its thread has left. */
void check_alive(const void *at, size_t size);

#endif
