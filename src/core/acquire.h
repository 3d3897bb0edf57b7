/* SPDX-License-Identifier: MIT */
/* acquire.h - an acquire, try or drain that the fast path cannot complete; see acquire.c. */
#ifndef FS_ACQUIRE_H
#define FS_ACQUIRE_H

#include "section.h"
#include "share.h"

#include <errno.h>
#include <limits.h>

/*
 * Take n units, or wait for them, with the priority, the token and the share of `how`, but with this
 * deadline (NULL: none).  drains: the call is a drain, which comes after a close and takes no units.
 */
int fs_acquire(struct fs_sem *s, int64_t n, bool drains, const struct fs_deadline *deadline,
               const fairsem_wait_t *how);

/*
 * Take n units, or return `error` if the request would have to wait.  As after the fast path, the units are
 * lost if a signal handler runs at the end of the section and never returns.
 */
int fs_acquire_now(struct fs_sem *s, int64_t n, int priority, bool drains, int error);

/* fs_acquire() with the deadline of `how`. */
int fs_acquire_as(struct fs_sem *s, int64_t n, bool drains, const fairsem_wait_t *how);

/* Take all free units, at most max, without waiting.  Returns how many. */
int64_t fs_acquire_upto(struct fs_sem *s, int64_t max);

/* ---- In a section ---- */

#define FS_MUST_WAIT INT_MIN

/* May a request take n units now (I6)?  The semaphore must be open, and n not too large. */
bool fs_may_take(struct fs_section *in, int64_t n, int priority);

/*
 * Take n units now; a drain takes none.  Returns 0, E2BIG, the reason of a close, or FS_MUST_WAIT, which
 * differs from all of these.
 */
int fs_take_now(struct fs_section *in, int64_t n, int priority, bool drains);

/*
 * Prepare to enqueue a request.  Returns 0; ENOBUFS, which is counted, if max_waiters requests wait; or
 * EINVAL if the share is in use at another semaphore.
 */
static inline int fs_may_enqueue(struct fs_section *in, struct fs_share *share)
{
    struct fs_sem *s = in->sem;

    if (s->max_waiters != 0 && s->waiters >= s->max_waiters) {
        s->refused++;
        return ENOBUFS;
    }
    return share == NULL ? 0 : fs_share_attach(in, share);
}

#endif
