/* SPDX-License-Identifier: MIT */
/*
 * section.h - the critical section of a semaphore; see section.c.
 *
 * From lock to unlock the count exists only in the caller's hands, as the number that goes from
 * one function to the next.
 */
#ifndef FS_SECTION_H
#define FS_SECTION_H

#include "probes.h"
#include "queueing.h"

int64_t fs_lock(struct fs_sem *s, struct fs_deferred *deferred);
int64_t fs_grant(struct fs_sem *s, int64_t available, bool *woken_to_claim,
                 struct fs_deferred *deferred);
void    fs_grant_and_unlock(struct fs_sem *s, int64_t available, struct fs_deferred *deferred);

/* The same with deferred work of its own, which is run at the end. */
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

/* Add released units: 0, or EOVERFLOW, counted and nothing changed. */
static inline int fs_add_units(struct fs_sem *s, int64_t *available, int64_t n)
{
    int64_t room = s->limit - *available;

    fs_assert_held(s);
    if (n > room) {
        s->count.over_releases++;
        fs_probe_over_release(s, s->name, n, room);
        return EOVERFLOW;
    }
    *available += n;
    return 0;
}

/* Add units whose grant found nobody to use them: what fits. */
void fs_regain(struct fs_sem *s, int64_t *available, int64_t n);

/*
 * Bounded bypass, see bypass.h: is what fits the head granted to it directly?  Otherwise it is
 * woken to claim.  If it is awake there is nothing to gain from that, and a ticket has no thread
 * to come.  While any ticket is queued, grant directly: the thread that comes to claim would
 * grant the ticket, too, and make its callback, from a call that is not expected to.
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
 * May a running thread take n units although the queue is not empty?  A request for none asks
 * whether nobody waits: no.
 */
static inline bool fs_may_pass(const struct fs_sem *s, int64_t available, int64_t n,
                               struct fs_deferred *deferred)
{
    fs_assert_held(s);
    return s->bypass_ns != 0 && !fs_waitq_empty(&s->queue) && s->closed == 0 && n > 0
           && n <= available && s->limit != 0     /* paused */
           && !fs_grants_directly(s, fs_waiter_of(s->queue.first), deferred);
}

#endif
