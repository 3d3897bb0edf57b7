/* SPDX-License-Identifier: MIT */
/*
 * shared.c - acquire and release between processes: start reading here, after layout.h.
 *
 *      kernel.h          files, record locks, futexes
 *      lock.h            the lock, which can be taken from the dead
 *      life.h            which processes live
 *      shared_queue.h    the waiters, in order
 *      change.h          the commit points
 *      repair.h          dropping the dead, and rebuilding the caches
 *      shared_section.h  the critical section: lock, grant loop, unlock, wake
 *      attach.h          how this process becomes a user
 *      watch.h           finding the dead
 *      shared_wait.h     how a thread waits
 *      segment.h         initializing a segment, and checking that a file is one
 *      registry.c        open, close, unlink
 */
#include "deadline.h"
#include "shared/attach.h"
#include "shared/change.h"
#include "shared/life.h"
#include "shared/shared_queue.h"
#include "shared/shared_wait.h"
#include "shared/watch.h"
#include "wait.h"

#include <errno.h>

/* ---- Without undo, while nobody waits: as the core's fast path in fast_path.h ---- */

static bool acquire_fast(fairsem_shared_t *h, int64_t n)
{
    _Atomic int64_t *count = &h->segment->word;
    int64_t word = FS_GET(count);

    while ((word & FS_SLOW) == 0 && word >= 2 * n) {
        if (atomic_compare_exchange_weak_explicit(count, &word, word - 2 * n,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

static bool release_fast(fairsem_shared_t *h, int64_t n)
{
    _Atomic int64_t *count = &h->segment->word;
    int64_t word = FS_GET(count), most = 2 * (h->capacity - n);

    while ((word & FS_SLOW) == 0 && word <= most) {
        if (atomic_compare_exchange_weak_explicit(count, &word, word + 2 * n,
                                                  memory_order_release, memory_order_relaxed))
            return true;
    }
    return false;
}

/* ---- Acquire ---- */

/* The lock is held. */
static bool shared_must_wait(struct fs_shared_section *in, int64_t n, int priority)
{
    return n > in->available || !fs_queue_leads(in, priority);
}

/* A process whose units survive exec must not wait. */
static bool keeps(const fairsem_shared_t *h)
{
    return FS_GET(&h->processes[FS_GET(&h->self)].keeps) != 0;
}

/*
 * Take n units, or join the queue; `refusal` is the error to return instead of joining, or 0.
 * Returns a result, or FS_NOT_OVER: it has joined.  The lock is held.
 */
static int shared_take_or_join(struct fs_shared_wait *wait, struct fs_shared_section *in, int64_t n,
                               int priority, int refusal)
{
    fairsem_shared_t *h = wait->handle;

    if (n > in->total)
        return E2BIG;
    if (!shared_must_wait(in, n, priority)) {
        fs_shared_take(in, n);
        return 0;
    }
    if (refusal != 0)
        return refusal;
    if (keeps(h))
        return EBUSY;
    if (fs_shared_wait_join(wait, in, n, priority))
        return FS_NOT_OVER;
    if (wait->checked)
        FS_COUNT_UP(&h->segment->count.refused, 1);
    return ENOBUFS;
}

static int enter_and_take(struct fs_shared_wait *wait, int64_t n, int priority, int refusal)
{
    struct fs_shared_section in;
    int result = fs_shared_wait_enter(wait, &in);

    if (result == ETIMEDOUT && wait->reason != 0)
        return wait->reason;
    if (result != 0)
        return result;
    result = wait->reason != 0 ? wait->reason
                               : shared_take_or_join(wait, &in, n, priority, refusal);
    result = fs_shared_section_result(&in, result);
    /* An error here is found again when the thread takes the lock the next time. */
    (void)fs_shared_section_end(&in);
    return result;
}

/* R4: it has joined before it checks, so that the check takes it no place in the queue. */
static int check_before_wait(struct fs_shared_wait *wait)
{
    int error;

    if (fs_watch_due(wait->handle, fs_watch_call_ns(wait->handle)))
        return fs_shared_wait_check(wait);
    error = fs_shared_check_file(wait->handle);
    return error != 0 ? error : FS_NOT_OVER;
}

/* R4: is the refusal due to the dead?  A full queue may be full of them. */
static int take_again(struct fs_shared_wait *wait, int64_t n, int priority, int refusal, int result)
{
    fairsem_shared_t *h = wait->handle;
    int error;

    if (result == refusal && !fs_watch_due(h, fs_watch_call_ns(h)))
        return result;
    error = fs_watch_check(h, wait->deadline,
                           result == ENOBUFS ? FS_EVERYBODY : FS_THOSE_OF_INTEREST);
    if (error != 0)
        return error;
    wait->checked = true;
    result = enter_and_take(wait, n, priority, refusal);
    return result == FS_NOT_OVER ? check_before_wait(wait) : result;
}

static int take_or_check(struct fs_shared_wait *wait, int64_t n, int priority, int refusal)
{
    int result = enter_and_take(wait, n, priority, refusal);

    if (result == FS_NOT_OVER)
        return check_before_wait(wait);
    if (result == ENOBUFS || result == EBUSY || (result == refusal && refusal != 0))
        return take_again(wait, n, priority, refusal, result);
    return result;
}

/*
 * Can a request be refused without the lock?  Processes that try again and again would keep it
 * from those that have units to give.  The count is loaded at one moment; a repair or a check may
 * be due, so this is only for as long as one has been done lately.
 */
static bool is_refused(fairsem_shared_t *h, int64_t n)
{
    const struct fs_segment *segment = h->segment;

    return n <= fs_shared_total(h)
           && n > fs_word_available(atomic_load_explicit(&segment->word, memory_order_acquire))
           && FS_GET(&segment->damaged) == 0 && FS_GET(&segment->unfinished) == 0
           && FS_GET(&segment->unsettled) == 0
           && !fs_long_ago(fs_now_ns(), FS_GET(&segment->checked_ns), fs_watch_call_ns(h));
}

static int acquire(fairsem_shared_t *h, int64_t n, int priority, int refusal,
                   const struct fs_deadline *deadline, const fairsem_token_t *token)
{
    struct fs_shared_wait wait;
    int error;

    error = fs_shared_be_attached(h, deadline);
    if (error == 0)
        error = fs_shared_look_at_file(h);
    if (error == 0 && refusal != 0 && is_refused(h, n))
        return refusal;
    if (error == 0)
        error = fs_shared_wait_begin(&wait, h, deadline, token);
    if (error == 0) {
        wait.result = take_or_check(&wait, n, priority, refusal);
        error = fs_shared_wait_for(&wait);
    }
    return error == ETIMEDOUT && refusal != 0 ? refusal : error;
}

/* Common to all acquires: true if n is not valid, or if the fast path has taken the units. */
static inline bool is_settled(fairsem_shared_t *h, int64_t n, int *result)
{
    *result = fs_count_valid(n) ? 0 : EINVAL;
    return *result != 0 || (!h->undo && acquire_fast(h, n));
}

int fairsem_shared_acquire(fairsem_shared_t *h, int64_t n)
{
    int result;

    return is_settled(h, n, &result) ? result : acquire(h, n, 0, 0, NULL, NULL);
}

int fairsem_shared_tryacquire(fairsem_shared_t *h, int64_t n)
{
    int result;

    return is_settled(h, n, &result) ? result
                                     : acquire(h, n, FS_LAST_PRIORITY, EAGAIN, &fs_lock_at_once,
                                               NULL);
}

int fairsem_shared_acquire_for(fairsem_shared_t *h, int64_t n, int64_t timeout_ns)
{
    struct fs_deadline deadline;
    int result;

    if (is_settled(h, n, &result))
        return result;
    if (timeout_ns <= 0)
        return acquire(h, n, 0, ETIMEDOUT, &fs_lock_at_once, NULL);
    deadline = fs_deadline_after(timeout_ns);
    return acquire(h, n, 0, 0, &deadline, NULL);
}

int fairsem_shared_acquire_until(fairsem_shared_t *h, int64_t n, clockid_t clock,
                                 const struct timespec *at)
{
    const fairsem_wait_t how = { .clock = clock, .deadline = at };

    return fs_clock_valid(clock) ? fairsem_shared_acquire_with(h, n, &how) : EINVAL;
}

int fairsem_shared_acquire_with(fairsem_shared_t *h, int64_t n, const fairsem_wait_t *how)
{
    static const fairsem_wait_t for_ever;
    struct fs_deadline deadline;
    int result;

    if (how == NULL)
        how = &for_ever;
    if (!fs_count_valid(n) || !fs_wait_valid(how))
        return EINVAL;
    if (how->token != NULL && (result = fairsem_token_reason(how->token)) != 0)
        return result;
    if (is_settled(h, n, &result))
        return result;
    if (!fs_wait_deadline(how, &deadline))
        return acquire(h, n, how->priority, 0, NULL, how->token);
    return acquire(h, n, how->priority, fs_deadline_passed(&deadline) ? ETIMEDOUT : 0, &deadline,
                   how->token);
}

/* ---- Release ---- */

int fairsem_shared_release(fairsem_shared_t *h, int64_t n)
{
    struct fs_shared_section in;
    int error, broken;

    if (!fs_count_valid(n))
        return EINVAL;
    if (!h->undo && release_fast(h, n))
        return 0;
    error = fs_shared_enter(&in, h, NULL);
    if (error != 0)
        return error;
    error = fs_shared_section_result(&in, fs_shared_give_back(&in, n));
    if (error == EPERM || error == EOVERFLOW)
        FS_COUNT_UP(&h->segment->count.over_releases, 1);
    broken = fs_shared_section_end(&in);
    return error != 0 ? error : broken;
}

int fairsem_shared_set_units(fairsem_shared_t *h, int64_t units)
{
    struct fs_shared_section in;
    int error, broken;

    if (!h->undo || !fs_count_valid(units))
        return EINVAL;
    error = fs_shared_enter(&in, h, NULL);
    if (error != 0)
        return error;
    error = fs_shared_check_file(h);
    if (error == 0)
        fs_shared_resize(&in, units);
    broken = fs_shared_section_end(&in);
    return error != 0 ? error : broken;
}

/* ---- Exec ---- */

int fairsem_shared_keep_on_exec(fairsem_shared_t *h, bool keep)
{
    struct fs_shared_section in;
    int error, cancelable, ignored;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    error = fs_shared_enter(&in, h, NULL);
    if (error == 0) {
        error = fs_shared_has_slots(h) ? EBUSY : fs_shared_check_file(h);
        if (error == 0)
            error = fs_file_keep_on_exec(h->fd, keep);
        if (error == 0)
            FS_COMMIT(&in, &h->processes[FS_GET(&h->self)].keeps, keep);
        fs_shared_section_end(&in);
    }
    pthread_setcancelstate(cancelable, &ignored);
    return error;
}
