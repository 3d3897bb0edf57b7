/* SPDX-License-Identifier: MIT */
/* bypass.c - see bypass.h. */
#include "bypass.h"

#include "ahead.h"
#include "resolve.h"

/*
 * Should a front that fits be granted directly, not woken to compete?  Yes, if it has waited for bypass_ns,
 * or if its thread is awake already.  Yes also while any ticket is queued: a thread that competes might
 * grant the ticket as well, and run the ticket's callback in an acquire, where the user does not expect
 * callbacks.  (With aging_ns an acquire can run callbacks, as the manual says.)
 */
static bool grants_directly(struct fs_section *in, const struct fs_waiter *front)
{
    fs_assert_held(in->sem);
    return in->sem->tickets != 0 || fs_waiter_state(front) != FS_PARKED
           || fs_section_now(in) - front->enqueued_ns >= in->sem->bypass_ns;
}

bool fs_bypass_may_pass(struct fs_section *in, int64_t n)
{
    const struct fs_sem *s = in->sem;
    const struct fs_waiter *front = fs_front(s);

    return front != NULL && s->closed == 0 && n > 0 && n <= in->available
           && s->limit != 0     /* not paused */
           && !grants_directly(in, front);
}

bool fs_bypass_wake_front(struct fs_section *in, struct fs_waiter *front)
{
    if (grants_directly(in, front))
        return false;
    if ((in->sem->options & FS_NO_SPIN) == 0)
        fs_ahead_woken_to_compete(in, front);
    fs_resolve(front, FS_WOKEN, in);
    return true;
}
