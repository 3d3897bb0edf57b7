/* SPDX-License-Identifier: MIT */
/* acquire.h - an acquire, try or drain that the fast path did not do; see acquire.c. */
#ifndef FS_ACQUIRE_H
#define FS_ACQUIRE_H

#include "section.h"
#include "share.h"

#include <errno.h>
#include <limits.h>

/*
 * Take n units, or wait for them, with the priority, the token and the share of `how`.  drains: it comes
 * after a close, and takes nothing.  The deadline may be NULL.
 */
int fs_acquire(struct fs_sem *s, int64_t n, bool drains, const struct fs_deadline *deadline,
               const fairsem_wait_t *how);

/*
 * Take n units, or return `error` if that would have to wait.  A handler that runs when the
 * section ends, and never returns, loses the units, as right after the fast path.
 */
int fs_acquire_now(struct fs_sem *s, int64_t n, int priority, bool drains, int error);

/* fs_acquire(), with the deadline of `how`, too. */
int fs_acquire_as(struct fs_sem *s, int64_t n, bool drains, const fairsem_wait_t *how);

/* Take as many units as there are, at most max, without waiting.  Returns how many. */
int64_t fs_acquire_upto(struct fs_sem *s, int64_t max);

/* ---- In a section ---- */

#define FS_MUST_WAIT INT_MIN

/* May a request that the semaphore admits take n units now?  I6: nobody passes. */
bool fs_may_take(struct fs_section *in, int64_t n, int priority);

/* Take the units.  Returns 0; a close reason; E2BIG; or FS_MUST_WAIT, which is none of these. */
int fs_take_now(struct fs_section *in, int64_t n, int priority, bool drains);

/* May one more wait?  0; ENOBUFS, which is counted; or EINVAL, if its share is another semaphore's. */
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
