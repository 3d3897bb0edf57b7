/* SPDX-License-Identifier: MIT */
/*
 * semaphore.c - the fair semaphore: start reading here.
 *
 * One 64-bit word holds the count and a bit, SLOW.  While nobody waits the bit is clear,
 * and acquire and release are one compare-and-swap each.  The first waiter sets the bit
 * under the mutex; from then on the word belongs to whoever holds the mutex (I3), so the
 * fast path cannot pass a waiter: it sees the bit and the count in the same load.
 *
 * The contended path has one shape.  fs_lock_line() makes the word ours and returns the
 * count; what follows works on that number and on the line; fs_serve_and_unlock() is the
 * only way out, and it hands units to the head of the line for as long as they fit.  So
 * no path can forget to serve (I2, I7), and there is one place that debits a waiter (I5).
 *
 * The invariants I1-I10 and the states of a waiter are in semaphore_internal.h; how a thread
 * sleeps is in wait.c.
 */
#include "semaphore_internal.h"

#include "bypass.h"
#include "fast_path.h"
#include "fork.h"
#include "invariant.h"
#include "token.h"

#include <errno.h>

static int     acquire_contended(struct fs_sem *s, int64_t n, int priority, int refusal,
                                 const struct fs_deadline *deadline, fairsem_token_t *token);
static int64_t take_contended_upto(struct fs_sem *s, int64_t max);
static int     release_contended(struct fs_sem *s, int64_t n);

/* In place of the error to return instead of waiting. */
#define WAIT_IF_NEED_BE 0

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
    if (attr->bypass_ns < 0 || bypass != (attr->bypass_ns > 0))
        return EINVAL;
    if ((attr->flags & FAIRSEM_INTERRUPTIBLE) != 0 && !FS_HAS_FUTEX)
        return ENOTSUP;

    *sem = (fairsem_t)FAIRSEM_INITIALIZER(units);
    atomic_store_explicit(&s->word, units * 2 + (fs_watched ? FS_SLOW : 0), memory_order_relaxed);
    s->bounded = attr->capacity != 0;
    if (s->bounded)
        s->limit = attr->capacity;
    s->max_waiters = attr->max_waiters;
    s->bypass_ns = attr->bypass_ns;
    s->name = attr->name;
    s->interruptible = (attr->flags & FAIRSEM_INTERRUPTIBLE) != 0;
    /* A signal handler that runs in a spin could not end the wait. */
    s->sleeps_at_once = s->interruptible || (attr->flags & FAIRSEM_NO_SPIN) != 0;
    s->generation = fs_fork_generation();
    return 0;
}

/*
 * Why the caller may free *sem even while the release that served it is still running
 * in another thread (the bug of glibc 12674, musl in 2011, FreeBSD D7505): a release on
 * the fast path touches the semaphore for the last time in the compare-and-swap that the
 * acquire has seen.  A release that granted publishes the grant with the mutex held and
 * does nothing with the semaphore after the unlock (I8); we cannot get the mutex before.
 * And POSIX lets a mutex be destroyed as soon as it can be locked and unlocked.
 */
int fairsem_destroy(fairsem_t *sem)
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_aftermath after;
    int64_t available = fs_enter(s, &after);
    bool waited_for = !fs_waitq_empty(&s->line);
    int error;

    fs_exit(s, available, &after);
    if (waited_for)
        return EBUSY;
    /* EBUSY from here means that a thread is inside another call: as wrong, and visible. */
    error = pthread_mutex_destroy(&s->mutex);
    if (error == 0) {
        /* Whoever uses it all the same comes to adopt(), and no further. */
        atomic_fetch_or_explicit(&s->word, FS_SLOW, memory_order_relaxed);
        atomic_store_explicit(&s->generation, FS_DESTROYED, memory_order_relaxed);
    }
    return error;
}

int fairsem_acquire(fairsem_t *sem, int64_t n)
{
    if (!fs_count_valid(n))
        return EINVAL;
    if (fs_take_fast(fs_inside(sem), n))
        return 0;
    return acquire_contended(fs_inside(sem), n, 0, WAIT_IF_NEED_BE, NULL, NULL);
}

int fairsem_tryacquire(fairsem_t *sem, int64_t n)
{
    if (!fs_count_valid(n))
        return EINVAL;
    if (fs_take_fast(fs_inside(sem), n))
        return 0;
    if (fs_plainly_too_few(fs_inside(sem), n))
        return EAGAIN;
    return acquire_contended(fs_inside(sem), n, FS_LAST_PRIORITY, EAGAIN, NULL, NULL);
}

int fairsem_acquire_for(fairsem_t *sem, int64_t n, int64_t timeout_ns)
{
    struct fs_deadline deadline;

    if (!fs_count_valid(n))
        return EINVAL;
    if (fs_take_fast(fs_inside(sem), n))
        return 0;
    if (timeout_ns <= 0)
        return acquire_contended(fs_inside(sem), n, 0, ETIMEDOUT, NULL, NULL);
    deadline = fs_deadline_after(timeout_ns);
    return acquire_contended(fs_inside(sem), n, 0, WAIT_IF_NEED_BE, &deadline, NULL);
}

int fairsem_acquire_until(fairsem_t *sem, int64_t n, clockid_t clock,
                          const struct timespec *at)
{
    const fairsem_wait_t how = { .clock = clock, .deadline = at };

    /* The checks again before the fast path: what `how` says costs more than all the rest. */
    if (fs_count_valid(n) && fs_clock_valid(clock) && (at == NULL || fs_timespec_valid(at))
        && fs_take_fast(fs_inside(sem), n))
        return 0;
    return fairsem_acquire_with(sem, n, &how);
}

int fairsem_acquire_with(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
{
    static const fairsem_wait_t for_ever;
    struct fs_deadline deadline;
    int reason;

    if (how == NULL)
        how = &for_ever;
    if (!fs_count_valid(n) || fs_check_wait(how) != 0)
        return EINVAL;
    if (how->token != NULL && (reason = fairsem_token_reason(how->token)) != 0)
        return reason;
    if (fs_take_fast(fs_inside(sem), n))
        return 0;
    if (how->deadline == NULL)
        return acquire_contended(fs_inside(sem), n, how->priority, WAIT_IF_NEED_BE, NULL,
                                 how->token);
    deadline = (struct fs_deadline){ .clock = how->clock, .at = *how->deadline };
    /* Past already: one look, without a place in line that others could see. */
    return acquire_contended(fs_inside(sem), n, how->priority,
                             fs_deadline_passed(&deadline) ? ETIMEDOUT : WAIT_IF_NEED_BE,
                             &deadline, how->token);
}

int fs_check_wait(const fairsem_wait_t *how)
{
    for (size_t i = 0; i < sizeof how->reserved_ / sizeof how->reserved_[0]; i++) {
        if (how->reserved_[i] != 0)
            return EINVAL;
    }
    /* All zero means for ever, also where 0 is no clock. */
    if (!fs_clock_valid(how->clock) && (how->deadline != NULL || how->clock != 0))
        return EINVAL;
    return how->deadline == NULL || fs_timespec_valid(how->deadline) ? 0 : EINVAL;
}

int64_t fairsem_tryacquire_upto(fairsem_t *sem, int64_t max)
{
    struct fs_sem *s = fs_inside(sem);
    int64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);

    if (max <= 0)
        return 0;
    while ((word & FS_SLOW) == 0) {
        int64_t n = fs_word_available(word) < max ? fs_word_available(word) : max;

        if (n <= 0)
            return 0;
        if (atomic_compare_exchange_weak_explicit(&s->word, &word, word - 2 * n,
                                                  memory_order_acquire, memory_order_relaxed))
            return n;
    }
    return take_contended_upto(s, max);
}

int fairsem_release(fairsem_t *sem, int64_t n)
{
    if (!fs_count_valid(n))
        return EINVAL;
    if (fs_give_fast(fs_inside(sem), n))
        return 0;
    return release_contended(fs_inside(sem), n);
}

/* ======================================================================== *
 *  The contended path: the critical section
 * ======================================================================== */

/*
 * This process was forked since the semaphore was last used.  The threads in its line do
 * not exist here, and one of them may have held the mutex.  The count stays as it was.
 * SLOW may be left over; the caller's fs_serve_and_unlock() sees to that.
 */
static void adopt(struct fs_sem *s, unsigned generation)
{
    if (atomic_load_explicit(&s->generation, memory_order_relaxed) == FS_DESTROYED)
        fs_misused("a semaphore is used after fairsem_destroy");
    fs_fork_lock();
    if (atomic_load_explicit(&s->generation, memory_order_relaxed) != generation) {
        s->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        s->line = (struct fs_waitq){ .next_ticket = s->line.next_ticket };
        if (s->resizes % 2 != 0) {
            atomic_store_explicit(&s->word, (s->limit - s->in_use) * 2 + FS_SLOW,
                                  memory_order_relaxed);
            atomic_store_explicit(&s->resizes, s->resizes + 1, memory_order_relaxed);
        }
        /* Those who waited left with the process: the counters must add up (cancels). */
        s->count.cancels = s->count.waits - s->count.grants - s->count.timeouts;
        s->awake = (struct fs_awake){ .who = NULL };
        s->tickets = 0;
        atomic_store_explicit(&s->waiters, 0, memory_order_relaxed);
        atomic_store_explicit(&s->generation, generation, memory_order_release);
    }
    fs_fork_unlock();
}

/*
 * Take the mutex and, by setting SLOW, the word.  Returns the count, which until
 * fs_serve_and_unlock() exists only in the caller's hands.
 *
 * Acquire order, for units that came by a fast release: that thread never took the
 * mutex, and a waiter granted from these units must see what it wrote.
 */
int64_t fs_lock_line(struct fs_sem *s, struct fs_aftermath *after)
{
    unsigned generation = fs_fork_generation();
    int64_t word;

    if (s->interruptible && !after->signals.held)
        fs_hold_signals(&after->signals);
    if (atomic_load_explicit(&s->generation, memory_order_acquire) != generation)
        adopt(s, generation);
    FS_MUST(pthread_mutex_lock(&s->mutex));
    word = atomic_fetch_or_explicit(&s->word, FS_SLOW, memory_order_acquire);
    if (word >= FS_OPEN)
        word = atomic_fetch_and_explicit(&s->word, ~FS_OPEN, memory_order_acquire);
    return fs_word_available(word);
}

/* Only a bounded semaphore can be; one that is all zero is none.  Every section comes by here. */
static bool paused(const struct fs_sem *s)
{
    if (s->limit != 0)
        return false;
    if (!s->bounded)
        fs_misused("a semaphore is used without fairsem_init or FAIRSEM_INITIALIZER");
    return true;
}

/*
 * The grant loop: hand units to the head of the line while its request fits, or call it, if
 * it is to come for them.  Returns what is left.
 *
 * The debit is in the word before the grant is visible (I5): a waiter that returns at once
 * must not find its own units still free.  Release order: for those who take units by the
 * fast path later on.
 */
static inline int64_t serve(struct fs_sem *s, int64_t available, bool *called,
                            struct fs_aftermath *after)
{
    bool granted = false;

    *called = false;
    while (!fs_waitq_empty(&s->line) && !paused(s)) {
        struct fs_waiter *head = fs_waiter_of(s->line.first);

        if (head->units > available)
            break;
        *called = !fs_bypass_over(s, head, after);
        if (*called) {
            fs_awake_call(s, head, after);
            break;
        }
        available -= head->units;
        atomic_store_explicit(&s->word, available * 2 + FS_SLOW, memory_order_release);
        fs_leave(s, head, FS_GRANTED, after);
        granted = true;
    }
    if (granted && !fs_waitq_empty(&s->line))
        fs_awake_alert(s, after);
    return available;
}

/* For others; in this file it is inline, being a part of every hand-off. */
int64_t fs_serve(struct fs_sem *s, int64_t available, bool *called, struct fs_aftermath *after)
{
    return serve(s, available, called, after);
}

/*
 * The only way out of the contended path: serve, give the word back, drop the mutex.  Release
 * order as above.
 */
void fs_serve_and_unlock(struct fs_sem *s, int64_t available, struct fs_aftermath *after)
{
    bool open, slow;

    available = serve(s, available, &open, after);
    slow = !fs_waitq_empty(&s->line) || paused(s) || s->closed != 0;
    slow = slow || fs_watched;
    open = open && !fs_watched;
    atomic_store_explicit(&s->word,
                          available * 2 + (slow ? FS_SLOW : 0) + (open ? FS_OPEN : 0),
                          memory_order_release);
    FS_MUST(pthread_mutex_unlock(&s->mutex));
}

int64_t fs_enter(struct fs_sem *s, struct fs_aftermath *after)
{
    fs_aftermath_init(after);
    return fs_lock_line(s, after);
}

void fs_exit(struct fs_sem *s, int64_t available, struct fs_aftermath *after)
{
    fs_serve_and_unlock(s, available, after);
    fs_aftermath_run(after);
}

bool fs_must_wait(const struct fs_sem *s, int64_t available, int64_t n, int priority)
{
    return paused(s) || n > available || !fs_waitq_leads(&s->line, priority);
}

int fs_admit(struct fs_sem *s, int64_t n, bool waits, int refusal)
{
    if (s->closed != 0)
        return s->closed;
    if (n > s->limit && !paused(s))
        return E2BIG;
    if (waits && refusal != 0)
        return refusal;
    if (waits && s->max_waiters != 0 && s->waiters >= s->max_waiters) {
        s->count.refused++;
        return ENOBUFS;
    }
    return 0;
}

/*
 * A request that can be served at once is no special case: it joins the line, is the head,
 * and the grant loop serves it on the way out.  It is only not counted, nor timed.
 */
void fs_join(struct fs_sem *s, struct fs_waiter *w, int priority, bool waits)
{
    int64_t waiters = s->waiters;

    fs_waitq_join(&s->line, &w->in_line, priority);
    /* Release order: who sees a ticket in line must see of which semaphore. */
    atomic_store_explicit(&w->state, FS_QUEUED, memory_order_release);
    w->since_ns = 0;
    if (waits) {
        w->since_ns = fs_now_ns();
        s->count.waits++;
        if (waiters >= s->count.waiters_max)
            s->count.waiters_max = waiters + 1;
    }
    /* Last: whoever sees itself counted has been waiting since before. */
    atomic_store_explicit(&s->waiters, waiters + 1, memory_order_release);
}

/*
 * Nobody else knows of w, unless a token lists it: its canceller must find, under the mutex,
 * that it has nothing to take out.  (It once took IDLE for "has still to come", when the wait
 * had been refused and its thread was about to take it off the same list.)
 */
void fs_refuse(struct fs_waiter *w, int reason)
{
    fs_set_reason(w, reason);
    atomic_store_explicit(&w->state, FS_REFUSED, memory_order_relaxed);
}

void fs_leave(struct fs_sem *s, struct fs_waiter *w, enum fs_state state,
              struct fs_aftermath *after)
{
    fs_waitq_leave(&s->line, &w->in_line);
    atomic_store_explicit(&s->waiters, s->waiters - 1, memory_order_release);
    if (w->since_ns != 0) {
        int64_t waited;

        /* A token's canceller goes from line to line with one look at the clock. */
        if (after->now_ns < w->since_ns)
            after->now_ns = fs_now_ns();
        waited = after->now_ns - w->since_ns;
        w->since_ns = after->now_ns;
        if (waited > INT64_MAX - s->count.wait_ns_total)
            s->count.wait_ns_total = INT64_MAX;     /* a million tickets, for a month each */
        else
            s->count.wait_ns_total += waited;
        if (waited > s->count.wait_ns_max)
            s->count.wait_ns_max = waited;
        if (state == FS_GRANTED)
            s->count.grants++;
        else if (state == FS_EXPIRED)
            s->count.timeouts++;
        else
            s->count.cancels++;
    }
    fs_awake_leave(s, w, state == FS_GRANTED);
    if (fs_watched)
        fs_tell_before(w);
    w->tell(w, state, after);
}

/* Member by member: all of it is larger than what else a contended call touches. */
void fs_aftermath_init(struct fs_aftermath *after)
{
    after->now_ns = 0;
    after->signals.held = false;
    after->callbacks.any = false;
    fs_wakes_init(&after->wakes);
}

/* No lock held. */
void fs_aftermath_run(struct fs_aftermath *after)
{
    fs_wake_all(&after->wakes);
    if (after->signals.held)
        fs_let_signals_in(&after->signals);
    if (after->callbacks.any)
        fs_callbacks_run(&after->callbacks);
}

/* ======================================================================== *
 *  The contended path: what happens in it
 * ======================================================================== */

static int give_up_acquire(struct fs_wait *wait, enum fs_state why, int reason,
                           struct fs_aftermath *after);
static int64_t take_past_the_line(struct fs_waiter *w);

static void join_if_admitted(struct fs_sem *s, int64_t available, struct fs_wait *wait,
                             int priority, int refusal)
{
    bool waits = fs_must_wait(s, available, wait->waiter.units, priority);
    int error = fs_admit(s, wait->waiter.units, waits, refusal);

    if (error != 0) {
        fs_refuse(&wait->waiter, error);
        return;
    }
    fs_join(s, &wait->waiter, priority, waits);
    wait->spin = fs_awake_join(s, &wait->waiter);
}

/*
 * Everything that takes units and did not find them on the fast path.  `refusal` is what
 * to return instead of waiting, or WAIT_IF_NEED_BE.
 */
static int acquire_contended(struct fs_sem *s, int64_t n, int priority, int refusal,
                             const struct fs_deadline *deadline, fairsem_token_t *token)
{
    struct fs_wait wait = {
        .waiter = { .tell = fs_tell_awake, .units = n, .state = FS_IDLE },
        .sem = s, .deadline = deadline, .give_up = give_up_acquire,
    };
    struct fs_aftermath after;
    int64_t available;
    int error;

    if (s->bypass_ns != 0 && fs_bypass_take(s, n))
        return 0;
    if (refusal == WAIT_IF_NEED_BE) {
        fs_prepare_to_sleep(&wait);
        wait.token = token != NULL ? fs_token_inside(token) : NULL;
    }
    error = fs_token_attach(&wait);
    if (error != 0)
        return error;

    available = fs_enter(s, &after);
    /* Not IDLE: CANCELED by the token, a moment ago. */
    if (atomic_load_explicit(&wait.waiter.state, memory_order_relaxed) == FS_IDLE) {
        if (fs_bypass_allowed(s, available, n, &after))
            available -= take_past_the_line(&wait.waiter);
        else
            join_if_admitted(s, available, &wait, priority, refusal);
    }
    fs_exit(s, available, &after);

    error = fs_wait(&wait);
    fs_token_detach(&wait);
    return error;
}

/* The one debit that is not the grant loop's: of a thread that has not joined. */
static int64_t take_past_the_line(struct fs_waiter *w)
{
    atomic_store_explicit(&w->state, FS_GRANTED, memory_order_relaxed);
    return w->units;
}

static int64_t take_contended_upto(struct fs_sem *s, int64_t max)
{
    struct fs_aftermath after;
    int64_t available, n = s->bypass_ns != 0 ? fs_bypass_take_upto(s, max) : 0;

    if (n > 0)
        return n;
    available = fs_enter(s, &after);
    if (fs_bypass_allowed(s, available, 1, &after)
        || (s->closed == 0 && !fs_must_wait(s, available, 1, FS_LAST_PRIORITY)))
        n = available < max ? available : max;
    fs_exit(s, available - n, &after);
    return n;
}

static int release_contended(struct fs_sem *s, int64_t n)
{
    struct fs_aftermath after;
    int64_t available;
    int error;

    if (s->bypass_ns != 0 && fs_bypass_give(s, n))
        return 0;
    available = fs_enter(s, &after);
    error = fs_give_back(s, &available, n);
    fs_exit(s, available, &after);
    return error;
}

/* Mutex held. */
int fs_give_back(struct fs_sem *s, int64_t *available, int64_t n)
{
    if (n > s->limit - *available) {
        s->count.over_releases++;
        return EOVERFLOW;
    }
    *available += n;
    return 0;
}

/*
 * Mutex held.  Nobody can be told that these units no longer fit, because somebody has
 * released what was not held; so as many of them go back as do.
 */
void fs_regain(struct fs_sem *s, int64_t *available, int64_t n)
{
    int64_t room = s->limit - *available;

    if (n > room) {
        s->count.over_releases++;
        n = room > 0 ? room : 0;
    }
    *available += n;
}

/*
 * A wait for units gives up, by its own thread or by a token's canceller.  It may have been
 * granted a moment before.  A time-out or a token then comes too late, the units are the
 * waiter's; a thread that was canceled cannot use them, and they go to the next in line.
 * It may not have joined yet, while its thread is on the way to the mutex: then it must not.
 */
static int give_up_acquire(struct fs_wait *wait, enum fs_state why, int reason,
                           struct fs_aftermath *after)
{
    struct fs_sem *s = wait->sem;
    struct fs_waiter *w = &wait->waiter;
    int64_t available = fs_lock_line(s, after);
    int state = atomic_load_explicit(&w->state, memory_order_relaxed);

    if (fs_in_line(w)) {
        fs_set_reason(w, reason);
        fs_leave(s, w, why, after);
        state = why;
    } else if (state == FS_IDLE) {
        fs_set_reason(w, reason);
        w->tell(w, why, after);
        state = why;
    } else if (state == FS_GRANTED && why == FS_ABANDONED) {
        fs_regain(s, &available, w->units);
    }
    fs_serve_and_unlock(s, available, after);
    return state;
}
