/* SPDX-License-Identifier: MIT */
/*
 * age.h - attr.aging_ns: a request that has waited for aging_ns has aged, and precedes all that have not.
 *
 * A request ages without any event.  So a section marks the oldest request as aged (FS_AGED), if it is time,
 * before it looks at the front.  A thread whose request ages also enters a section by itself: the request
 * is now the front and may fit, and perhaps no other thread would come to grant it.
 */
#ifndef FS_AGE_H
#define FS_AGE_H

#include "sem.h"

/* With aging: returns when a queued request ages, or 0 if never. */
static inline int64_t fs_ages_at_ns(const struct fs_sem *s, const struct fs_waiter *w)
{
    return s->aging_ns < INT64_MAX - w->enqueued_ns ? w->enqueued_ns + s->aging_ns : 0;
}

/* With aging, before a section looks at the front: mark the oldest request as aged, if it is time. */
void fs_age_note(struct fs_section *in);

/* Mark all requests that have aged by now, for a caller that shows the whole queue. */
void fs_age_note_all(struct fs_section *in);

#endif
