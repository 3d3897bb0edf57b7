/* SPDX-License-Identifier: MIT */
/* shared_wait.h - a thread that waits in the queue of a segment: join, sleep, end. */
#ifndef FS_SHARED_WAIT_H
#define FS_SHARED_WAIT_H

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
    const struct fs_deadline *deadline;     /* NULL: none */
    _Atomic int               slot;         /* stored under the lock; FS_NOBODY: not joined */
    int64_t                   seq;          /* its number: the slot is still ours if it has it */
    _Atomic int               reason;       /* of its token, under the token's mutex; 0: not canceled */
    int64_t                   enqueued_ns;
    int64_t                   check_ns;     /* when it looks at others next; 0: not known yet */
    bool                      checked;      /* processes, before it is refused */
    struct fs_shared_awake    awake;
    int64_t                   units;
    int                       priority;
    int                       refusal;      /* the error to return instead of waiting, or 0 */
    unsigned                  generation;   /* of the process that began it, see fork.h */
};

/*
 * Count it in the handle, and put it on the token's list (NULL: none).  0, or the token's reason: it is
 * not begun.  No lock held.
 */
int fs_shared_wait_begin(struct fs_shared_wait *wait, fairsem_shared_t *h,
                         const struct fs_deadline *deadline, const fairsem_token_t *token);

/*
 * fs_detect_dead() and fs_shared_enter() for this wait.  pthread_cancel ends them, too, and its token:
 * ETIMEDOUT, see `reason`.
 */
int fs_shared_wait_check(struct fs_shared_wait *wait, enum fs_whom whom);
int fs_shared_wait_enter(struct fs_shared_wait *wait, struct fs_shared_section *in);

/* If the result is FS_NOT_OVER, wait for another.  Cancellation point.  No lock held. */
int fs_shared_wait_for(struct fs_shared_wait *wait, int result);

#endif
