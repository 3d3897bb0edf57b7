/* SPDX-License-Identifier: MIT */
/*
 * age.h - attr.aging_ns: a request that has waited for aging_ns comes before all others.
 *
 * A request becomes old by time, not by an event.  So a section looks for old requests before it looks
 * at the front.  A thread whose request has become old also enters a section by itself: its request may
 * fit although the front does not, and no other thread may come.
 */
#ifndef FS_AGE_H
#define FS_AGE_H

#include "sem.h"

/* With aging: the time when a queued request becomes old, or 0 if that is never. */
static inline int64_t fs_age_old_at_ns(const struct fs_sem *s, const struct fs_waiter *w)
{
    return s->aging_ns < INT64_MAX - w->enqueued_ns ? w->enqueued_ns + s->aging_ns : 0;
}

/* With aging, before a section looks at the front: make the oldest request old, if it is time. */
void fs_age_note(struct fs_section *in);

/* Mark all requests that have aged by now, for a caller that shows the whole queue. */
void fs_age_note_all(struct fs_section *in);

#endif
