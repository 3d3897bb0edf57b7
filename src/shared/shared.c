/* SPDX-License-Identifier: MIT */
/*
 * shared.c - acquire and release between processes: start reading here, after layout.h.
 *
 *      kernel.h          files, record locks, futexes
 *      trust.h           checked loads from a segment, which may be damaged
 *      liveness.h        which processes are alive
 *      lock.h            the lock, which can be taken from a dead owner
 *      shared_queue.h    the waiters, in order
 *      shared_flow.h     the order between clients
 *      change.h          the commit points
 *      repair.h          reaping the dead, and computing the derived data again
 *      shared_section.h  the critical section: lock, grant loop, unlock, wake
 *      attach.h          attaching this process, and detaching it
 *      detect.h          failure detection
 *      shared_awake.h    the wait strategy: which waiters spin or yield
 *      shared_wait.h     the wait of a thread, and its end
 *      shared_acquire.h  an acquire after the fast path
 *      segment.h         initializing a segment, and checking that a file is a segment
 *      registry.c        open, close, unlink
 *      shared_stat.c     statistics and the dump
 */
#include "shared/attach.h"
#include "shared/change.h"
#include "shared/liveness.h"
#include "shared/shared_acquire.h"
#include "system/deadline.h"
#include "wait.h"

#include <errno.h>

/* ---- The fast path: only without undo, and while no thread waits; as in the core's fast_path.h ---- */

static bool acquire_fast(fairsem_shared_t *h, int64_t n)
{
    _Atomic int64_t *count = &h->segment->word;
    int64_t word = FS_GET(count);

    while ((word & FS_CONTENDED) == 0 && word >= 2 * n) {
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

    while ((word & FS_CONTENDED) == 0 && word <= most) {
        if (atomic_compare_exchange_weak_explicit(count, &word, word + 2 * n,
                                                  memory_order_release, memory_order_relaxed))
            return true;
    }
    return false;
}

/* ---- Acquire ---- */

static const fairsem_wait_t without_limit;

/* The first step of all acquires.  Returns true, with *result set, if the acquire is over. */
static inline bool acquire_at_once(fairsem_shared_t *h, int64_t n, int *result)
{
    *result = fs_count_valid(n) ? 0 : EINVAL;
    return *result != 0 || (!h->undo && acquire_fast(h, n));
}

int fairsem_shared_acquire(fairsem_shared_t *h, int64_t n)
{
    int result;

    return acquire_at_once(h, n, &result) ? result : fs_shared_acquire(h, n, &without_limit, 0, NULL);
}

int fairsem_shared_tryacquire(fairsem_shared_t *h, int64_t n)
{
    static const fairsem_wait_t last = { .priority = FS_LAST_PRIORITY };
    int result;

    if (acquire_at_once(h, n, &result))
        return result;
    return fs_shared_acquire(h, n, &last, EAGAIN, NULL);
}

int fairsem_shared_acquire_for(fairsem_shared_t *h, int64_t n, int64_t timeout_ns)
{
    struct fs_deadline deadline;
    int result;

    if (acquire_at_once(h, n, &result))
        return result;
    if (timeout_ns <= 0)
        return fs_shared_acquire(h, n, &without_limit, ETIMEDOUT, NULL);
    deadline = fs_deadline_after(timeout_ns);
    return fs_shared_acquire(h, n, &without_limit, 0, &deadline);
}

int fairsem_shared_acquire_until(fairsem_shared_t *h, int64_t n, clockid_t clock,
                                 const struct timespec *at)
{
    const fairsem_wait_t how = { .clock = clock, .deadline = at };

    return fs_clock_valid(clock) ? fairsem_shared_acquire_with(h, n, &how) : EINVAL;
}

static bool share_valid(const fairsem_shared_t *h, const fairsem_wait_t *how)
{
    if (how->share_weight == 0)
        return how->share == NULL && how->share_key == 0;
    return how->share == NULL && how->share_weight <= FAIRSEM_MAX_WEIGHT && h->aging_ns == 0;
}

int fairsem_shared_acquire_with(fairsem_shared_t *h, int64_t n, const fairsem_wait_t *how)
{
    struct fs_deadline deadline;
    int result;

    if (how == NULL)
        how = &without_limit;
    if (!fs_count_valid(n) || !fs_wait_valid_for_any(how) || !share_valid(h, how))
        return EINVAL;
    if (how->token != NULL && (result = fairsem_token_reason(how->token)) != 0)
        return result;
    if (acquire_at_once(h, n, &result))
        return result;
    if (!fs_wait_deadline(how, &deadline))
        return fs_shared_acquire(h, n, how, 0, NULL);
    return fs_shared_acquire(h, n, how, fs_deadline_passed(&deadline) ? ETIMEDOUT : 0, &deadline);
}

/* ---- Release ---- */

int fairsem_shared_release(fairsem_shared_t *h, int64_t n)
{
    struct fs_shared_section in;
    int error;

    if (!fs_count_valid(n))
        return EINVAL;
    if (!h->undo && release_fast(h, n))
        return 0;
    error = fs_shared_enter(&in, h, FS_LOCK_WAIT, NULL);
    if (error != 0)
        return error;
    error = fs_shared_section_result(&in, fs_shared_give_back(&in, n));
    if (error == EPERM || error == EOVERFLOW)
        FS_COUNT_UP(&h->segment->count.over_releases, 1);
    return fs_shared_section_end_with(&in, error);
}

int fairsem_shared_set_units(fairsem_shared_t *h, int64_t units)
{
    struct fs_shared_section in;
    int error;

    if (!h->undo || !fs_count_valid(units))
        return EINVAL;
    error = fs_shared_enter_soon(&in, h);
    if (error != 0)
        return error;
    error = fs_shared_check_file(h);
    if (error == 0)
        fs_shared_resize(&in, units);
    return fs_shared_section_end_with(&in, error);
}

/* ---- Exec ---- */

int fairsem_shared_keep_on_exec(fairsem_shared_t *h, bool keep)
{
    struct fs_shared_section in;
    int error, cancelable, ignored;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    error = fs_shared_enter(&in, h, FS_LOCK_WAIT, NULL);
    if (error == 0) {
        error = fs_shared_has_slots(h) ? EBUSY : fs_shared_check_file(h);
        if (error == 0)
            error = fs_file_keep_on_exec(h->fd, keep);
        if (error == 0 && in.error == 0)
            fs_shared_set_keeps(h, FS_GET(&h->self), keep);
        fs_shared_section_end(&in);
    }
    pthread_setcancelstate(cancelable, &ignored);
    return error;
}
