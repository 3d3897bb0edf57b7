/* SPDX-License-Identifier: MIT */
/*
 * section.h - the critical section of a semaphore; see section.c.
 *
 * From lock to unlock the count is only a local variable of the caller, which passes it from one
 * function to the next.
 */
#ifndef FS_SECTION_H
#define FS_SECTION_H

#include "probes.h"
#include "queueing.h"

int64_t fs_lock(struct fs_sem *s, struct fs_deferred *deferred);
int64_t fs_grant(struct fs_sem *s, int64_t available, bool *woken_to_claim,
                 struct fs_deferred *deferred);
void    fs_grant_and_unlock(struct fs_sem *s, int64_t available, struct fs_deferred *deferred);

/* The same for a caller that collects its own deferred work, which fs_exit() runs. */
static inline int64_t fs_enter(struct fs_sem *s, struct fs_deferred *deferred)
{
    fs_deferred_init(deferred);
    return fs_lock(s, deferred);
}

static inline void fs_exit(struct fs_sem *s, int64_t available, struct fs_deferred *deferred)
{
    fs_grant_and_unlock(s, available, deferred);
    fs_deferred_run(deferred);
}

/* ---- The mutex held ---- */

/* A count of mistakes: the last number stands for "or more". */
static inline void fs_count_over_release(struct fs_sem *s, int64_t n, int64_t room)
{
    if (s->over_releases != UINT32_MAX)
        s->over_releases++;
    fs_probe_over_release(s, s->name, n, room);
}

/* Add released units.  Returns 0; or EOVERFLOW, which is counted and changes nothing else. */
static inline int fs_add_units(struct fs_sem *s, int64_t *available, int64_t n)
{
    int64_t room = s->limit - *available;

    fs_assert_held(s);
    if (n > room) {
        fs_count_over_release(s, n, room);
        return EOVERFLOW;
    }
    *available += n;
    return 0;
}

/* Add units whose waiter gives its grant back: as many as fit. */
void fs_regain(struct fs_sem *s, int64_t *available, int64_t n);

/*
 * Bounded bypass, see bypass.h: if the head's request fits, is it granted directly?  Otherwise the
 * head is woken to claim.  That gains nothing if its thread is awake, and a ticket has no thread.
 * While any ticket is queued, grant directly: a thread that claims would also grant the ticket, and
 * run its callback, in an acquire where the user does not expect it.  (With aging_ns it may happen,
 * as the manual says.)
 */
static inline bool fs_grants_directly(const struct fs_sem *s, const struct fs_waiter *head,
                                      struct fs_deferred *deferred)
{
    fs_assert_held(s);
    if (s->bypass_ns == 0 || s->tickets != 0 || fs_waiter_state(head) != FS_PARKED)
        return true;
    return fs_deferred_now(deferred, head->joined_ns) - head->joined_ns >= s->bypass_ns;
}

/*
 * May a running thread take n units although the queue is not empty?  A request for 0 units must
 * not pass anybody.
 */
static inline bool fs_may_pass(struct fs_sem *s, int64_t available, int64_t n,
                               struct fs_deferred *deferred)
{
    fs_assert_held(s);
    return s->bypass_ns != 0 && !fs_waitq_empty(&s->queue) && s->closed == 0 && n > 0
           && n <= available && s->limit != 0     /* paused */
           && !fs_grants_directly(s, fs_waiter_of(fs_head_now(s, deferred)), deferred);
}

#endif
