/* SPDX-License-Identifier: MIT */
/*
 * capacity.c - the calls of a semaphore's owner while other threads use the semaphore: change the capacity,
 * consume units that need not be free, close, drain; for the interposer, also retire and reuse.
 */
#include "acquire.h"
#include "fast_path.h"
#include "queue.h"
#include "section.h"
#include "share.h"
#include "tools/probes.h"
#include "wait.h"

#include <errno.h>

/*
 * Dequeue every waiter that `goes` selects; each gets the reason.
 *
 * With flows, repeat the pass until it dequeues no waiter.  When the first request of a flow is dequeued,
 * the flow may move behind other flows.  The pass goes on with the next request of the moved flow, and misses
 * the flows that now come before it.
 */
static void clear_queue(struct fs_section *in, bool (*goes)(const struct fs_sem *, int64_t units),
                        enum fs_end end, int reason)
{
    struct fs_sem *s = in->sem;
    struct fs_waitq_node *node, *behind;
    bool gone;

    fs_assert_held(s);
    do {
        gone = false;
        for (node = fs_waitq_first(&s->queue); node != NULL; node = behind) {
            struct fs_waiter *w = fs_waiter_of(node);

            behind = fs_behind(s, node);
            if (goes(s, w->units)) {
                fs_set_reason(w, reason);
                fs_dequeue(in, w, end);
                gone = true;
            }
        }
    } while (gone && fs_has_flows(s));
}

static bool everybody(const struct fs_sem *s, int64_t units)
{
    (void)s;
    (void)units;
    return true;
}

/*
 * The limit and the word change in two stores, and a fork in another thread may copy the process between
 * them.  The child completes the change with fs_in_use(): see sem.c.  Release order: a copy that has one of
 * these stores must also have all stores before it.
 */
static void resize(struct fs_section *in, int64_t capacity)
{
    struct fs_sem *s = in->sem;

    *fs_in_use(s) = s->limit - in->available;
    atomic_store_explicit(&s->resized, FS_IN_RESIZE, memory_order_release);
    atomic_store_explicit(&s->limit, capacity, memory_order_release);
    in->available = capacity - *fs_in_use(s);
    atomic_store_explicit(&s->word, fs_word_of(in->available, FS_CONTENDED), memory_order_release);
    atomic_store_explicit(&s->resized, FS_RESIZED, memory_order_release);
}

/*
 * Units in use stay in use: the available units change by the same number as the capacity.  The grant loop
 * compares requests with the available units, so while there is a debt, a larger capacity grants no request
 * too early.  (In anyio, a larger capacity once did.)
 *
 * A release without the mutex may load the old limit, and add its units after the change.  At worst, an
 * over-release goes unnoticed.
 */
int fairsem_set_capacity(fairsem_t *sem, int64_t capacity)
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_section in;

    if ((s->options & FS_BOUNDED) == 0 || !fs_count_valid(capacity))
        return EINVAL;
    fs_section_begin(&in, s);
    resize(&in, capacity);
    clear_queue(&in, fs_is_too_large, FS_BY_CAPACITY, E2BIG);
    fs_section_end(&in);
    return 0;
}

int fairsem_consume(fairsem_t *sem, int64_t n)
{
    struct fs_section in;
    int error = 0;

    if (!fs_count_valid(n))
        return EINVAL;
    fs_section_begin(&in, fs_inside(sem));
    if (in.available - n < -FAIRSEM_MAX_UNITS)
        error = EOVERFLOW;
    else
        in.available -= n;
    fs_section_end(&in);
    return error;
}

/*
 * Close the semaphore: from now on, only drains are enqueued.  CONTENDED stays set while the semaphore is
 * closed, so the fast path fails (I3).
 */
static int close_for(struct fs_section *in, int reason)
{
    struct fs_sem *s = in->sem;

    fs_assert_held(s);
    if (s->closed != 0)
        return EALREADY;
    atomic_store_explicit(&s->closed, reason, memory_order_release);
    if (reason != FS_RETIRED)
        fs_probe_close(s, s->name, reason);
    clear_queue(in, everybody, FS_BY_CLOSE, reason);
    return 0;
}

int fairsem_close(fairsem_t *sem, int reason)
{
    struct fs_section in;
    int error;

    if (reason < 0)
        return EINVAL;
    fs_section_begin(&in, fs_inside(sem));
    error = close_for(&in, reason != 0 ? reason : ESHUTDOWN);
    fs_section_end(&in);
    return error;
}

bool fs_retire(struct fs_sem *s, _Atomic int64_t *units)
{
    struct fs_section in;
    bool idle;

    fs_section_begin(&in, s);
    idle = fs_waitq_empty(&s->queue) && s->closed == 0;
    if (idle) {
        /* Release order: a thread that reads *units must see all that users of this semaphore wrote before. */
        atomic_store_explicit(units, in.available, memory_order_release);
        (void)close_for(&in, FS_RETIRED);
        in.available = 0;
    }
    fs_section_end(&in);
    return idle;
}

/* Forget what the semaphore has learned: its next user may use it in another way. */
void fs_reuse(struct fs_sem *s, int64_t units, int64_t in_all)
{
    struct fs_section in;

    fs_section_begin(&in, s);
    atomic_store_explicit(&s->closed, 0, memory_order_relaxed);
    s->awake = (struct fs_awake){ .near = s->awake.near };
    atomic_store_explicit(&s->before_queue, 0, memory_order_relaxed);
    *fs_initial_units(s) = in_all;
    in.available = units;
    fs_section_end(&in);
}

/*
 * A drain is a waiter like any other, except that a closed semaphore admits it.  When n units are free,
 * the grant loop ends the drain's wait with reason 0, and reserves no units.
 */
int fairsem_drain(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
{
    static const fairsem_wait_t for_ever;
    struct fs_deadline deadline;
    fairsem_wait_t until;
    struct fs_section in;
    bool fits;
    int reason;

    if (!fs_count_valid(n) || (how != NULL && !fs_wait_valid(how)))
        return EINVAL;
    if (how != NULL && how->share != NULL && fs_share_check(fs_inside(sem), how->share) != 0)
        return EINVAL;
    /* The time-out starts now, to include ticket callbacks, which may run between the close and the wait. */
    fs_wait_from_now(&until, &deadline, how != NULL ? how : &for_ever);
    until.share = NULL;     /* not needed among drains; and after the close, a share must not cause EINVAL */
    fs_section_begin(&in, fs_inside(sem));
    fits = !fs_is_too_large(in.sem, n);
    if (fits)
        (void)close_for(&in, ESHUTDOWN);
    fs_section_end(&in);
    if (!fits)
        return E2BIG;
    if (until.token != NULL && (reason = fairsem_token_reason(until.token)) != 0)
        return reason;
    return fs_acquire_as(in.sem, n, true, &until);
}
