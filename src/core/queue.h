/* SPDX-License-Identifier: MIT */
/*
 * queue.h - into a semaphore's queue, and out of it; and who in it is woken ahead of its turn.
 *
 * In a section, for all of this.
 */
#ifndef FS_QUEUE_H
#define FS_QUEUE_H

#include "sem.h"

/* The next to be granted; NULL: nobody waits. */
static inline struct fs_waiter *fs_head(const struct fs_sem *s)
{
    return fs_waiter_of(fs_waitq_first(&s->queue));
}

/* Let w join, as the last of its priority.  True: it is the head. */
bool fs_join(struct fs_section *in, struct fs_waiter *w, int priority);

/* The request of this thread has joined: make its plan, and wake another one ahead. */
void fs_plan_awake(struct fs_section *in, struct fs_waiter *w, bool is_the_head);

/* Take w out of the queue, complete it with this state, and count it. */
void fs_leave(struct fs_section *in, struct fs_waiter *w, enum fs_waiter_state state);

/* After a grant: wake the new head ahead of its turn, if that pays off. */
void fs_wake_next(struct fs_section *in, struct fs_waiter *head);

/*
 * The head is about to have its units: learn from the time that it took.  There is nothing to learn
 * if it became the head in this same section, if it is a ticket, which has no thread, or if no thread
 * may stay awake on this semaphore.
 */
static inline void fs_learn(struct fs_sem *s, int64_t joined_ns, int core, int64_t now_ns)
{
    int64_t head_ns = now_ns - s->head_since_ns;
    bool says = s->head_since_ns != 0 && head_ns != 0 && core != FS_NO_CORE && !s->sleeps_at_once;

    fs_awake_granted(&s->awake, core, says && s->waiters != 0 ? head_ns : 0);
    if (says && head_ns >= FS_LATE_NS)
        fs_awake_late(&s->awake, s->head_since_ns == joined_ns, s->waiters != 0, head_ns, now_ns);
    if (says)
        fs_awake_learn(&s->awake, s->head_since_ns == joined_ns, head_ns, core);
    s->head_since_ns = 0;
}

#endif
