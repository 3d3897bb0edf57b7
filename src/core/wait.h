/* SPDX-License-Identifier: MIT */
/* wait.h - a thread that waits, from before it is enqueued until it has its result; see wait.c. */
#ifndef FS_WAIT_H
#define FS_WAIT_H

#include "resolve.h"
#include "section.h"
#include "signals.h"
#include "system/fork.h"
#include "token.h"
#include "tools/annotate.h"

struct fs_wait;

/*
 * Abort the wait, because of its deadline, a token, a signal, or the cancellation of its thread.  Returns
 * false if the wait had ended before.  Locks and unlocks the semaphore's mutex, and leaves the deferred
 * work in *in.
 */
typedef bool fs_abort_fn(struct fs_wait *wait, enum fs_end end, int reason, struct fs_section *in);

/* A wait, on the stack of its thread. */
struct fs_wait {
    union {                                 /* first */
        struct fs_waiter        waiter;
        struct fs_thread_waiter thread;
    };
    struct fs_sem            *sem;
    fs_abort_fn              *abort;
    const struct fs_deadline *deadline;     /* NULL: none */
    bool                      competes_when_woken; /* r/o; bypass.h; a copy from the semaphore, for I8 */
    int64_t                   competes_at_ns; /* when the thread competes by itself, age.h; 0: never, or done */
    struct fs_cancelable      by_token;
    unsigned                  generation;   /* of the process in which the wait began: fork.h */
    bool                      interruptible;
    _Atomic bool              interrupted;  /* r/w by its thread and that thread's handlers */
};

/*
 * Is this wait a copy in a forked child, because a signal handler or a callback has called fork during the
 * wait?  In the child, the queue of the semaphore is empty.
 */
static inline bool fs_wait_is_copied(const struct fs_wait *wait)
{
    return wait->generation != fs_fork_generation();
}

/* Is every member of `how` valid?  The token and the shares are not checked. */
bool fs_wait_valid_for_any(const fairsem_wait_t *how);

/* Is `how` also valid for a semaphore of this process, to which share_weight and share_key mean nothing? */
bool fs_wait_valid(const fairsem_wait_t *how);

/* Store the deadline of `how`, or its time-out from now, in *deadline.  Returns false if it has neither. */
bool fs_wait_deadline(const fairsem_wait_t *how, struct fs_deadline *deadline);

/* Copy *how to *until.  A time-out begins now: it becomes a deadline, which is stored in *at. */
void fs_wait_from_now(fairsem_wait_t *until, struct fs_deadline *at, const fairsem_wait_t *how);

/*
 * Prepare to sleep, and put the wait on the list of the token, unless the token is NULL.  Returns 0, or
 * the reason of a canceled token: then the wait has not begun.  May allocate: no mutex held (I9).
 */
int fs_wait_begin(struct fs_wait *wait, const fairsem_token_t *token);

/* Aborts the wait of a request that is in a semaphore's queue, or is not in it yet. */
fs_abort_fn fs_abort_request;

/* Called in the section of an abort: store why the wait ends. */
void fs_wait_set_end(struct fs_wait *wait, enum fs_end end, int reason);

/*
 * Sleep until the waiter's state is final.  Returns the final state.  No mutex held.  Cancellation point, for
 * which the caller has pushed the clean-up handler.
 */
int fs_sleep(struct fs_wait *wait);

/*
 * End the critical section in which the request may have been enqueued: unlock, run the deferred work, and
 * sleep until the waiter's state is final.  Returns the result of the wait.  Cancellation point.
 */
int fs_section_end_and_wait(struct fs_section *in, struct fs_wait *wait);

#endif
