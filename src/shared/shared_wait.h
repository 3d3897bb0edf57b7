/* SPDX-License-Identifier: MIT */
/* shared_wait.h - the wait of a thread in the queue of a segment: enqueue, sleep, end. */
#ifndef FS_SHARED_WAIT_H
#define FS_SHARED_WAIT_H

#include "shared/shared_flow.h"
#include "shared/shared_awake.h"
#include "shared/shared_section.h"
#include "shared/detect.h"
#include "system/deadline.h"
#include "token.h"

/* No result yet; results are not negative. */
#define FS_NOT_OVER (-1)

struct fs_shared_wait {
    struct fs_cancelable      by_token;
    fairsem_shared_t         *handle;
    const struct fs_deadline *deadline;     /* or NULL */
    _Atomic int               slot;         /* stored under the lock; FS_NOBODY before the enqueue */
    int64_t                   seq;          /* equal to the slot's `seq`, until the slot is used again */
    _Atomic int               reason;       /* 0, or the token's reason; stored under the token's mutex */
    int64_t                   enqueued_ns;
    int64_t                   check_ns;     /* when the thread next checks processes, or 0 if not known yet */
    bool                      checked;      /* processes were checked before a refusal */
    struct fs_shared_awake    awake;
    int64_t                   units;
    int                       priority;
    struct fs_shared_share    share;
    int                       refusal;      /* the error to return instead of waiting, or 0 */
    unsigned                  generation;   /* of the process that began the wait, see fork.h */
};

/*
 * Begin a wait: count it in the handle, and put it on the list of the token (which may be NULL).  Returns 0.
 * If the token is already canceled, begins no wait, and returns the token's reason.  The lock is not held.
 */
int fs_shared_wait_begin(struct fs_shared_wait *wait, fairsem_shared_t *h,
                         const struct fs_deadline *deadline, const fairsem_token_t *token);

/*
 * fs_detect_dead() and fs_shared_enter(), until the deadline of the wait; if the wait has a `refusal`, only for
 * FS_LOCK_GRACE_NS.  Both functions are cancellation points while they wait for the lock.  Both return
 * ETIMEDOUT, with `reason` set, if the token is canceled.
 */
int fs_shared_wait_check(struct fs_shared_wait *wait, enum fs_whom whom);
int fs_shared_wait_enter(struct fs_shared_wait *wait, struct fs_shared_section *in);

/*
 * Wait in the queue if `result` is FS_NOT_OVER, and end the wait in any case.  Returns the result of the
 * wait.  Cancellation point.  The lock is not held.
 */
int fs_shared_wait_for(struct fs_shared_wait *wait, int result);

#endif
