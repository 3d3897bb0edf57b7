/* SPDX-License-Identifier: MIT */
/*
 * capacity.c - what the owner of a semaphore does to it while it is in use: change the
 * capacity, take units that are not there, close it, wait until nobody uses it, use it again.
 */
#include "acquire.h"
#include "fast_path.h"
#include "probes.h"

#include <errno.h>

/* Take every waiter out of the queue that `goes` selects, wherever it is; each gets the reason. */
static void clear_queue(struct fs_sem *s, bool (*goes)(const struct fs_sem *, int64_t units),
                       enum fs_waiter_state state, int reason, struct fs_deferred *deferred)
{
    struct fs_waitq_node *node = fs_head(s), *behind;

    fs_assert_held(s);
    for (; node != NULL; node = behind) {
        struct fs_waiter *w = fs_waiter_of(node);

        behind = fs_waitq_behind(&s->queue, node);
        if (goes(s, w->units)) {
            fs_set_reason(w, reason);
            fs_leave(s, w, state, deferred);
        }
    }
}

static bool everybody(const struct fs_sem *s, int64_t units)
{
    (void)s;
    (void)units;
    return true;
}

/*
 * The limit and the word change in two stores, and a fork may copy the process between them.  In
 * the meantime fs_in_use() holds what the child needs to complete the change: see reset_in_child()
 * in section.c.  Release order, each time: the copy must not have the stores in another order.
 */
static int64_t resize(struct fs_sem *s, int64_t available, int64_t capacity)
{
    *fs_in_use(s) = s->limit - available;
    atomic_store_explicit(&s->resizing, true, memory_order_release);
    atomic_store_explicit(&s->limit, capacity, memory_order_release);
    available = capacity - *fs_in_use(s);
    atomic_store_explicit(&s->word, available * 2 + FS_SLOW, memory_order_release);
    atomic_store_explicit(&s->resizing, false, memory_order_release);
    return available;
}

/*
 * What is in use stays in use: available moves by as much as the capacity.  The grant loop on the
 * way out compares with the sum, not with the change.  So growing while over-committed grants
 * nobody too early (anyio once did).
 *
 * A release without the mutex may have loaded the old limit before, and succeed after.  Only a
 * release of units that nobody held can go unnoticed that way.
 */
int fairsem_set_capacity(fairsem_t *sem, int64_t capacity)
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_deferred deferred;
    int64_t available;

    if (!s->bounded || !fs_count_valid(capacity))
        return EINVAL;
    available = resize(s, fs_enter(s, &deferred), capacity);
    clear_queue(s, fs_never_fits, FS_REFUSED, E2BIG, &deferred);
    fs_exit(s, available, &deferred);
    return 0;
}

int fairsem_consume(fairsem_t *sem, int64_t n)
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_deferred deferred;
    int64_t available;
    int error = 0;

    if (!fs_count_valid(n))
        return EINVAL;
    available = fs_enter(s, &deferred);
    if (available - n < -FAIRSEM_MAX_UNITS)
        error = EOVERFLOW;
    else
        available -= n;
    fs_exit(s, available, &deferred);
    return error;
}

/* From here nobody joins; SLOW stays set and keeps the fast path away (I3). */
static int close_for(struct fs_sem *s, int reason, struct fs_deferred *deferred)
{
    fs_assert_held(s);
    if (s->closed != 0)
        return EALREADY;
    atomic_store_explicit(&s->closed, reason, memory_order_release);
    if (reason != FS_RETIRED)
        fs_probe_close(s, s->name, reason);
    clear_queue(s, everybody, FS_CLOSED, reason, deferred);
    return 0;
}

int fairsem_close(fairsem_t *sem, int reason)
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_deferred deferred;
    int64_t available;
    int error;

    if (reason < 0)
        return EINVAL;
    available = fs_enter(s, &deferred);
    error = close_for(s, reason != 0 ? reason : ESHUTDOWN, &deferred);
    fs_exit(s, available, &deferred);
    return error;
}

bool fs_retire(struct fs_sem *s, _Atomic int64_t *units)
{
    struct fs_deferred deferred;
    int64_t available = fs_enter(s, &deferred);
    bool idle = fs_waitq_empty(&s->queue) && s->closed == 0;

    if (idle) {
        /* Release order: whoever finds them finds all that the slot's user wrote before. */
        atomic_store_explicit(units, available, memory_order_release);
        (void)close_for(s, FS_RETIRED, &deferred);
        available = 0;
    }
    fs_exit(s, available, &deferred);
    return idle;
}

/* What the next user does says nothing about the one before. */
void fs_reuse(struct fs_sem *s, int64_t units)
{
    struct fs_deferred deferred;

    (void)fs_enter(s, &deferred);
    atomic_store_explicit(&s->closed, 0, memory_order_relaxed);
    s->awake = (struct fs_awake){ 0 };
    fs_exit(s, units, &deferred);
}

/*
 * It needs no second kind of waiter, only one that a closed semaphore admits.  When n units are
 * free the grant loop completes it as CLOSED, without a reason, and takes nothing.
 */
int fairsem_drain(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
{
    static const fairsem_wait_t for_ever;
    struct fs_sem *s = fs_inside(sem);
    struct fs_deadline deadline;
    struct fs_deferred deferred;
    int64_t available;
    enum fs_patience patience = FS_DRAINS;
    int reason;
    bool timed, fits;

    if (how == NULL)
        how = &for_ever;
    if (!fs_count_valid(n) || !fs_wait_valid(how))
        return EINVAL;
    /* A time-out counts from here: callbacks of tickets may run between the close and the wait. */
    timed = fs_wait_deadline(how, &deadline);
    available = fs_enter(s, &deferred);
    fits = !fs_never_fits(s, n);
    if (fits)
        (void)close_for(s, ESHUTDOWN, &deferred);
    fs_exit(s, available, &deferred);
    if (!fits)
        return E2BIG;
    if (how->token != NULL && (reason = fairsem_token_reason(how->token)) != 0)
        return reason;
    /* In the past: as in fairsem_acquire_with(). */
    if (timed && fs_deadline_passed(&deadline))
        patience = FS_DRAINS_OUT_OF_TIME;
    return fs_acquire_contended(s, n, how->priority, patience, timed ? &deadline : NULL,
                                how->token);
}
