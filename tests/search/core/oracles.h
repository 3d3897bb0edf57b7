/* SPDX-License-Identifier: MIT */
/* oracles.h - functions that the oracles share: oracles.c, waiters.c and bounds.c. */
#ifndef XP_ORACLES_H
#define XP_ORACLES_H

#include "explorer.h"

#include "section.h"

enum { WAITERS_MAX = 12 };

/* The time at which the request ages, or INT64_MAX if that would overflow. */
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

/* The index of the semaphore to which this memory belongs, or -1. */
static inline int sem_at(const void *at)
{
    size_t offset = (size_t)((const char *)at - (const char *)sems);

    return offset < sizeof sems ? (int)(offset / sizeof sems[0]) : -1;
}

static inline int64_t available(int i)
{
    return fs_word_available(*(volatile int64_t *)&sem_inside(i)->word);
}

/* Will the waiter load its state without another wake-up?  It is awake, or about to be woken. */
static inline bool is_on_its_way(const struct fs_waiter *w)
{
    int state = *(volatile const int *)&w->state;

    return state == FS_WOKEN || state == FS_QUEUED;
}

/* Bounds of the available units of a semaphore, by the results so far. */
struct bounds { int64_t low, high; };
struct bounds bounds_of(int i);
void bounds_check(int i);       /* after each step while the mutex is free */
void bounds_check_end(int i);

/* The index of the share to which this memory belongs, from 0 on, or -1. */
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

/* Must `node` be granted before `other`?  Both must belong to one share, or to none. */
static inline bool goes_first(const struct fs_waitq_node *node, const struct fs_waitq_node *other)
{
    if ((node->kind == FS_AGED) != (other->kind == FS_AGED))
        return node->kind == FS_AGED;
    if (node->priority != other->priority && node->kind != FS_AGED)
        return node->priority < other->priority;
    return node->seq < other->seq;
}

/*
 * List the queue in order, and return its length.  Does not use the library's functions, which are under test.
 */
int walk_queue(int i, const struct fs_waitq_node *node[WAITERS_MAX]);

/* Fail if the memory is in a stack frame that another thread has left. */
void check_alive(const void *at, size_t size);

#endif
