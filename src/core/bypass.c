/* SPDX-License-Identifier: MIT */
/* bypass.c - see bypass.h. */
#include "bypass.h"

#include "cpu.h"
#include "queue.h"
#include "wait.h"

/*
 * Is the head granted directly, if its request fits?  To wake it gains nothing if its thread is awake,
 * and a ticket has no thread.  While any ticket is queued, grant directly: a thread that claims would
 * also grant the ticket, and run its callback, in an acquire where the user does not expect it.  (With
 * aging_ns it may happen, as the manual says.)
 */
static bool grants_directly(struct fs_section *in, const struct fs_waiter *head)
{
    fs_assert_held(in->sem);
    return in->sem->tickets != 0 || fs_waiter_state(head) != FS_PARKED
           || fs_section_now(in) - head->joined_ns >= in->sem->bypass_ns;
}

#define TRIES_PER_CLOCK 16      /* reading the clock takes as long as a pause, or longer */

static bool take(struct fs_sem *s, int64_t n)
{
    return fs_acquire_fast(s, n) || fs_bypass_acquire(s, n);
}

/* What would end the wait in the queue ends this, too; a deadline may be passed by two wake-ups. */
static bool goes_on(const struct fs_wait *wait, int64_t start_ns, int64_t now_ns)
{
    return fs_waiter_state(&wait->waiter) == FS_NOT_JOINED
           && !atomic_load_explicit(&wait->interrupted, memory_order_relaxed)
           && atomic_load_explicit(&wait->sem->closed, memory_order_relaxed) == 0
           && fs_awake_before_join(&wait->sem->before_join, start_ns, now_ns);
}

/* A request that cannot be granted soon does not stay; nor does one whose end by a handler nobody notes. */
bool fs_bypass_wait(struct fs_wait *wait)
{
    struct fs_sem *s = wait->sem;
    int64_t n = wait->waiter.units, start;
    bool taken = false;

    if (s->sleeps_at_once || n <= 0 || n > atomic_load_explicit(&s->limit, memory_order_relaxed)
        || fs_handlers_are_bare(wait->interruptible))
        return false;
    start = fs_now_ns();
    if (!goes_on(wait, start, start))
        return false;
    do {
        for (int i = 0; i < TRIES_PER_CLOCK && !taken; i++) {
            taken = take(s, n);
            if (!taken)
                fs_cpu_pause();
        }
    } while (!taken && goes_on(wait, start, fs_now_ns()));
    fs_awake_learn_before_join(&s->before_join, taken);
    return taken;
}

bool fs_bypass_may_pass(struct fs_section *in, int64_t n)
{
    const struct fs_sem *s = in->sem;
    const struct fs_waiter *head = fs_head(s);

    return head != NULL && s->closed == 0 && n > 0 && n <= in->available
           && s->limit != 0     /* paused */
           && !grants_directly(in, head);
}

bool fs_bypass_wake_head(struct fs_section *in, struct fs_waiter *head)
{
    if (grants_directly(in, head))
        return false;
    fs_wake_to_claim(in, head);
    return true;
}
