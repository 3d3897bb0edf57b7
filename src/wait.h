/* SPDX-License-Identifier: MIT */
/* wait.h - a thread that waits, from before it joins until it is done; see wait.c. */
#ifndef FS_WAIT_H
#define FS_WAIT_H

#include "annotate.h"
#include "section.h"
#include "signals.h"
#include "token.h"

struct fs_wait;

/*
 * Abort the wait, if it is not over, because of `why`: EXPIRED, CANCELED, INTERRUPTED or ABANDONED.
 * Takes and drops the semaphore's mutex.  Returns the state that the wait is in then.
 */
typedef int fs_abort_fn(struct fs_wait *wait, enum fs_waiter_state why, int reason,
                        struct fs_deferred *deferred);

/* On the stack of its thread. */
struct fs_wait {
    struct fs_waiter          waiter;       /* first */
    struct fs_sem            *sem;
    const struct fs_machine  *machine;      /* of the waiter's state */
    fs_abort_fn              *abort;
    const struct fs_deadline *deadline;     /* NULL: none */
    struct fs_cancelable      by_token;
    struct fs_parking         parking;
    enum fs_spin_kind         spin;         /* what it does before it sleeps */
    bool                      claims;       /* when woken, instead of spinning: see bypass.h */
    bool                      interruptible, interrupted;
    int64_t                   completed_ns; /* written before the final state: when that was; 0: it
                                             * did not have to wait */
};

/* What every `how` must say, except its token's reason. */
bool fs_wait_valid(const fairsem_wait_t *how);

/* Its deadline, or that of its timeout_ns, which begins now.  False: it has none. */
bool fs_wait_deadline(const fairsem_wait_t *how, struct fs_deadline *deadline);

/* How a waiter is completed whose thread does not sleep, for instance because it only tries. */
fs_complete_fn fs_complete_at_once;

/*
 * Prepare to sleep, and let the token (NULL: none) know of the wait.  0, or the token's reason:
 * then there is nothing to end.  May allocate: no mutex held (I9).
 */
int fs_wait_begin(struct fs_wait *wait, const fairsem_token_t *token);

/* For a waiter in a semaphore's queue; or not there yet. */
fs_abort_fn fs_abort_request;

/* Sleep until the state is final; returns it.  Cancellation point. */
int fs_sleep(struct fs_wait *wait);

/*
 * The critical section has been left: sleep until the state is final, if it is not.  Returns
 * the result of the wait.  Acquire order, as in fs_sleep: another thread may have made it final.
 */
static inline int fs_wait(struct fs_wait *wait)
{
    int state = atomic_load_explicit(&wait->waiter.state, memory_order_acquire);

    if (fs_state_in_queue(state))
        state = fs_sleep(wait);
    fs_annotate_after(&wait->waiter);
    if (wait->by_token.token != NULL && state != FS_CANCELED)
        fs_token_detach(&wait->by_token);
    if (wait->interruptible && fs_guard != NULL)
        fs_guard->end_wait();
    return fs_result(&wait->waiter, state);
}

#endif
