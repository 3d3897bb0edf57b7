/* SPDX-License-Identifier: MIT */
/*
 * age.h - attr.aging_ns: the oldest request comes before all others once it has waited for so long.
 *
 * Time makes it old, not an event.  So a section notes it before it looks at the head; and a thread
 * whose request has become old comes to a section by itself, because it may fit where the head does
 * not, and nothing else may happen.
 */
#ifndef FS_AGE_H
#define FS_AGE_H

#include "sem.h"

/* With aging: when will a request that has joined be old, if it still waits?  0: never. */
static inline int64_t fs_age_old_at_ns(const struct fs_sem *s, const struct fs_waiter *w)
{
    return s->aging_ns < INT64_MAX - w->enqueued_ns ? w->enqueued_ns + s->aging_ns : 0;
}

/* With aging, before a section looks at the head: make the oldest request old, if it is time. */
void fs_age_note(struct fs_section *in);

/* Make all requests old whose time has come, because somebody wants to see the whole queue. */
void fs_age_note_all(struct fs_section *in);

#endif
