/* SPDX-License-Identifier: MIT */
/*
 * semaphore.c - the fair semaphore: start reading here.
 *
 * One 64-bit word holds the count and a bit, CONTENDED.  While nobody waits, the bit is clear, and an acquire
 * or a release is one compare-and-swap.  The first waiter sets the bit under the mutex.  From then on the word
 * belongs to the thread that holds the mutex (I3).  So the fast path cannot pass a waiter: it sees the bit and
 * the count in the same load.
 *
 * This file has the public operations, each of them "fast path, else one call".  Read on in
 *
 *      fast_path.h   one compare-and-swap
 *      acquire.c     may a request take its units?  Or does it wait?
 *      section.c     the heart: lock, grant loop, unlock; and a release
 *      queue.c       how a waiter is enqueued and dequeued
 *      wait.c        a thread that waits, until it is granted or its wait is aborted
 *      resolve.c     how a waiter learns of its grant, asleep or awake
 *      deferred.h    what a section leaves for after its unlock: threads to wake, callbacks
 *      sem.h         the struct of a semaphore, and its invariants (I1-I10)
 *      waiter.h      a drawing of the states of a waiter
 *
 * and, for the options, in age.h, ahead.h, bypass.h, share.h and signals.h.  local.mk lists the files of
 * the heart, those of the options, and those that only use the heart.  Below src/core/ are src/awake/
 * (which waiters stay awake), src/system/ (clocks, cores, forks, how a thread sleeps) and src/tools/ (for
 * compilers, race detectors and tracers).
 */
#include "acquire.h"
#include "bypass.h"
#include "fast_path.h"
#include "section.h"
#include "share.h"
#include "system/fork.h"
#include "system/mutex.h"
#include "tools/probes.h"
#include "wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The alignment of fairsem_new(), so that no other object shares the cache line of the word. */
enum { CACHE_LINE = 64 };

int fairsem_init(fairsem_t *sem, int64_t units, const fairsem_attr_t *attr)
{
    static const fairsem_attr_t defaults;
    struct fs_sem *s = fs_inside(sem);
    bool bypass;

    if (attr == NULL)
        attr = &defaults;
    bypass = (attr->flags & FAIRSEM_BOUNDED_BYPASS) != 0;
    for (size_t i = 0; i < sizeof attr->reserved_ / sizeof attr->reserved_[0]; i++) {
        if (attr->reserved_[i] != 0)
            return EINVAL;
    }
    if (!fs_count_valid(units) || !fs_count_valid(attr->capacity) || attr->max_waiters < 0)
        return EINVAL;
    if (attr->capacity != 0 && units > attr->capacity)
        return EINVAL;
    if ((attr->flags & ~(FAIRSEM_INTERRUPTIBLE | FAIRSEM_NO_SPIN | FAIRSEM_BOUNDED_BYPASS)) != 0)
        return EINVAL;
    if (attr->aging_ns < 0 || attr->bypass_ns < 0 || bypass != (attr->bypass_ns > 0))
        return EINVAL;
    if ((attr->flags & FAIRSEM_INTERRUPTIBLE) != 0 && !FS_HAS_FUTEX)
        return ENOTSUP;

    *sem = (fairsem_t)FAIRSEM_INITIALIZER(units);
    fs_mutex_init(&s->mutex);
    atomic_store_explicit(&s->word, fs_word_of(units, fs_instrumented ? FS_CONTENDED : 0), memory_order_relaxed);
    if (attr->capacity != 0) {
        s->limit = attr->capacity;
        s->options |= FS_BOUNDED;
    }
    /* A limit of UINT32_MAX or more counts as no limit: memory would be exhausted first. */
    s->max_waiters = attr->max_waiters < UINT32_MAX ? (uint32_t)attr->max_waiters : 0;
    s->bypass_ns = attr->bypass_ns;
    s->aging_ns = attr->aging_ns;
    s->name = attr->name;
    fs_probe_text(s->name);
    if (bypass)
        s->options |= FS_BYPASS;
    if (attr->aging_ns != 0) {
        s->options |= FS_AGING;
        s->epoch = FS_BY_AGE;
    }
    if ((attr->flags & FAIRSEM_INTERRUPTIBLE) != 0)
        s->options |= FS_INTERRUPTIBLE;
    if ((attr->flags & FAIRSEM_NO_SPIN) != 0)
        s->options |= FS_NO_SPIN;
    s->generation = fs_fork_generation();
    return 0;
}

/*
 * The caller may destroy and free *sem right after its acquire, while the release that granted the acquire
 * still runs in another thread (the bug of glibc 12674, musl in 2011, FreeBSD D7505).  A release on the fast
 * path does not touch the semaphore after the compare-and-swap that the acquire has seen.  A release in a
 * section grants with the mutex held, and does not touch the semaphore after its unlock (I8); this function
 * cannot lock the mutex before that unlock.  POSIX allows destroying a mutex as soon as it has been locked
 * and unlocked.
 */
int fairsem_destroy(fairsem_t *sem)
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_section in;
    bool waited_for;
    int error;

    fs_section_begin(&in, s);
    waited_for = !fs_waitq_empty(&s->queue);
    fs_section_end(&in);
    if (waited_for)
        return EBUSY;
    /* EBUSY if another thread is inside a call, which is a mistake of the user. */
    error = pthread_mutex_destroy(&s->mutex);
    if (error == 0) {
        /* Later calls enter a section, where fs_fork_check() ends the process. */
        atomic_fetch_or_explicit(&s->word, FS_CONTENDED, memory_order_relaxed);
        atomic_store_explicit(&s->generation, FS_DESTROYED, memory_order_relaxed);
    }
    return error;
}

int fairsem_counted_init(fairsem_counted_t *counted, int64_t units, const fairsem_attr_t *attr)
{
    int error = fairsem_init(&counted->sem, units, attr);

    if (error != 0)
        return error;
    fs_inside(&counted->sem)->options |= FS_COUNTED;
    memset(counted->fairsem_counts_, 0, sizeof counted->fairsem_counts_);
    return 0;
}

int fairsem_new(fairsem_t **sem, int64_t units, const fairsem_attr_t *attr)
{
    int before = errno, error = ENOMEM;
    /* macOS refuses a size that is not a multiple of the alignment. */
    const size_t size = (sizeof(fairsem_counted_t) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    fairsem_counted_t *counted = aligned_alloc(CACHE_LINE, size);

    if (counted != NULL)
        error = fairsem_counted_init(counted, units, attr);
    if (error == 0)
        *sem = &counted->sem;
    else
        free(counted);
    errno = before;
    return error;
}

void fairsem_free(fairsem_t *sem)
{
    int before = errno;

    if (sem != NULL && fairsem_destroy(sem) != 0)
        fs_usage_error(sem, "somebody waits for the semaphore");
    free(sem);
    errno = before;
}

static const fairsem_wait_t no_options;

int fairsem_acquire(fairsem_t *sem, int64_t n)
{
    struct fs_sem *s = fs_inside(sem);

    if (fs_acquire_fast(s, n))
        return 0;
    if (!fs_count_valid(n))
        return EINVAL;
    return fs_acquire(s, n, false, NULL, &no_options);
}

int fairsem_tryacquire(fairsem_t *sem, int64_t n)
{
    struct fs_sem *s = fs_inside(sem);

    if (fs_acquire_fast(s, n))
        return 0;
    if (!fs_count_valid(n))
        return EINVAL;
    if (fs_plainly_too_few(s, n))
        return EAGAIN;
    return fs_acquire_now(s, n, FS_LAST_PRIORITY, false, EAGAIN);
}

int fairsem_acquire_for(fairsem_t *sem, int64_t n, int64_t timeout_ns)
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_deadline deadline;

    if (fs_acquire_fast(s, n))
        return 0;
    if (!fs_count_valid(n))
        return EINVAL;
    if (timeout_ns <= 0)
        return fs_acquire_now(s, n, 0, false, ETIMEDOUT);
    deadline = fs_deadline_after(timeout_ns);
    return fs_acquire(s, n, false, &deadline, &no_options);
}

int fairsem_acquire_until(fairsem_t *sem, int64_t n, clockid_t clock,
                          const struct timespec *at)
{
    const fairsem_wait_t how = { .clock = clock, .deadline = at };

    /*
     * fairsem_acquire_with() checks the arguments, too, but reading `how` costs more than the whole fast
     * path.
     */
    if (fs_clock_valid(clock) && (at == NULL || fs_timespec_valid(at))
        && fs_acquire_fast(fs_inside(sem), n))
        return 0;
    return fairsem_acquire_with(sem, n, &how);
}

int fairsem_acquire_with(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
{
    int reason;

    if (!fs_count_valid(n) || (how != NULL && !fs_wait_valid(how)))
        return EINVAL;
    if (how == NULL)
        how = &no_options;
    if (how->share != NULL && fs_share_check(fs_inside(sem), how->share) != 0)
        return EINVAL;
    if (how->token != NULL && (reason = fairsem_token_reason(how->token)) != 0)
        return reason;
    if (fs_acquire_fast(fs_inside(sem), n))
        return 0;
    return fs_acquire_as(fs_inside(sem), n, false, how);
}

int64_t fairsem_tryacquire_upto(fairsem_t *sem, int64_t max)
{
    int64_t n;

    if (max <= 0)
        return 0;
    n = fs_acquire_fast_upto(fs_inside(sem), max);
    return n >= 0 ? n : fs_acquire_upto(fs_inside(sem), max);
}

int fairsem_release(fairsem_t *sem, int64_t n)
{
    struct fs_sem *s = fs_inside(sem);

    if (!fs_count_valid(n))
        return EINVAL;
    if (fs_give(s, n, false))
        return 0;
    return fs_release(s, n);
}
