/* SPDX-License-Identifier: MIT */
/*
 * semaphore.c - the fair semaphore: start reading here.
 *
 * One 64-bit word holds the count and a bit, SLOW.  While nobody waits the bit is clear,
 * and acquire and release are one compare-and-swap each.  The first waiter sets the bit
 * under the mutex; from then on the word belongs to whoever holds the mutex (I3), so the
 * fast path cannot pass a waiter: it sees the bit and the count in the same load.
 *
 * The contended path has one shape.  lock_line() makes the word ours and returns the
 * count; what follows works on that number and on the line; serve_and_unlock() is the
 * only way out, and it hands units to the head of the line for as long as they fit.  So
 * no path can forget to serve (I2, I7), and there is one place that debits a waiter (I5).
 *
 * The invariants I1-I10 and the states of a waiter are in semaphore_internal.h.
 */
#include "semaphore_internal.h"

#include "fork.h"
#include "invariant.h"

#include <errno.h>
#include <string.h>

static bool    take_fast(struct fs_sem *s, int64_t n);
static bool    give_fast(struct fs_sem *s, int64_t n);
static int64_t lock_line(struct fs_sem *s);
static void    serve_and_unlock(struct fs_sem *s, int64_t available);
static int     acquire_contended(struct fs_sem *s, int64_t n, int refusal,
                                 const struct fs_deadline *deadline);
static int64_t take_contended_upto(struct fs_sem *s, int64_t max);
static int     release_contended(struct fs_sem *s, int64_t n);
static bool    must_wait(const struct fs_sem *s, int64_t available, int64_t n);

/* In place of the error to return instead of waiting. */
#define WAIT_IF_NEED_BE 0

static struct fs_sem *inside(const fairsem_t *sem)
{
    /* Not const: even a look may need the mutex. */
    return (struct fs_sem *)(uintptr_t)sem;
}

/* One comparison for both ends: a negative count is huge as an unsigned one. */
static bool count_valid(int64_t n)
{
    return (uint64_t)n <= (uint64_t)FAIRSEM_MAX_UNITS;
}

int fairsem_init(fairsem_t *sem, int64_t units, const fairsem_attr_t *attr)
{
    static const fairsem_attr_t defaults;
    struct fs_sem *s = inside(sem);

    if (attr == NULL)
        attr = &defaults;
    for (size_t i = 0; i < sizeof attr->reserved_ / sizeof attr->reserved_[0]; i++) {
        if (attr->reserved_[i] != 0)
            return EINVAL;
    }
    if (!count_valid(units) || !count_valid(attr->capacity) || attr->max_waiters < 0)
        return EINVAL;
    if (attr->capacity != 0 && units > attr->capacity)
        return EINVAL;
    if ((attr->flags & ~FAIRSEM_INTERRUPTIBLE) != 0)
        return EINVAL;
    if ((attr->flags & FAIRSEM_INTERRUPTIBLE) != 0)
        return ENOTSUP;

    *sem = (fairsem_t)FAIRSEM_INITIALIZER(units);
    s->bounded = attr->capacity != 0;
    if (s->bounded)
        s->limit = attr->capacity;
    s->max_waiters = attr->max_waiters;
    s->name = attr->name;
    s->generation = fs_fork_generation();
    return 0;
}

/*
 * Why the caller may free *sem even while the release that served him is still running
 * in another thread (the bug of glibc 12674, musl in 2011, FreeBSD D7505): a release on
 * the fast path touches the semaphore for the last time in the compare-and-swap that the
 * acquire has seen.  A release that granted publishes the grant with the mutex held and
 * does nothing with the semaphore after the unlock (I8); we cannot get the mutex before.
 * And POSIX lets a mutex be destroyed as soon as it can be locked and unlocked.
 */
int fairsem_destroy(fairsem_t *sem)
{
    struct fs_sem *s = inside(sem);
    int64_t available = lock_line(s);
    bool waited_for = !fs_waitq_empty(&s->line);

    serve_and_unlock(s, available);
    if (waited_for)
        return EBUSY;
    /* EBUSY from here means that a thread is inside another call: as wrong, and visible. */
    return pthread_mutex_destroy(&s->mutex);
}

int fairsem_acquire(fairsem_t *sem, int64_t n)
{
    if (!count_valid(n))
        return EINVAL;
    if (take_fast(inside(sem), n))
        return 0;
    return acquire_contended(inside(sem), n, WAIT_IF_NEED_BE, NULL);
}

int fairsem_tryacquire(fairsem_t *sem, int64_t n)
{
    if (!count_valid(n))
        return EINVAL;
    if (take_fast(inside(sem), n))
        return 0;
    return acquire_contended(inside(sem), n, EAGAIN, NULL);
}

int fairsem_acquire_for(fairsem_t *sem, int64_t n, int64_t timeout_ns)
{
    struct fs_deadline deadline;

    if (!count_valid(n))
        return EINVAL;
    if (take_fast(inside(sem), n))
        return 0;
    if (timeout_ns <= 0)
        return acquire_contended(inside(sem), n, ETIMEDOUT, NULL);
    deadline = fs_deadline_after(timeout_ns);
    return acquire_contended(inside(sem), n, WAIT_IF_NEED_BE, &deadline);
}

int fairsem_acquire_until(fairsem_t *sem, int64_t n, clockid_t clock,
                          const struct timespec *at)
{
    struct fs_deadline deadline = { .clock = clock };

    if (!count_valid(n) || !fs_clock_valid(clock) || (at != NULL && !fs_timespec_valid(at)))
        return EINVAL;
    if (take_fast(inside(sem), n))
        return 0;
    if (at == NULL)
        return acquire_contended(inside(sem), n, WAIT_IF_NEED_BE, NULL);
    deadline.at = *at;
    /* Past already: one look, without a place in line that others could see. */
    return acquire_contended(inside(sem), n,
                             fs_deadline_passed(&deadline) ? ETIMEDOUT : WAIT_IF_NEED_BE,
                             &deadline);
}

int fairsem_acquire_with(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
{
    static const fairsem_wait_t for_ever;

    if (how == NULL)
        how = &for_ever;
    for (size_t i = 0; i < sizeof how->reserved_ / sizeof how->reserved_[0]; i++) {
        if (how->reserved_[i] != 0)
            return EINVAL;
    }
    if (how->priority != 0 || how->token != NULL)
        return EINVAL;
    return fairsem_acquire_until(sem, n, how->clock, how->deadline);
}

int64_t fairsem_tryacquire_upto(fairsem_t *sem, int64_t max)
{
    struct fs_sem *s = inside(sem);
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
    if (!count_valid(n))
        return EINVAL;
    if (give_fast(inside(sem), n))
        return 0;
    return release_contended(inside(sem), n);
}

int64_t fairsem_capacity(const fairsem_t *sem)
{
    const struct fs_sem *s = inside(sem);

    return s->bounded ? s->limit : -1;
}

int64_t fairsem_available(const fairsem_t *sem)
{
    return fs_word_available(atomic_load_explicit(&inside(sem)->word, memory_order_acquire));
}

int64_t fairsem_waiters(const fairsem_t *sem)
{
    const struct fs_sem *s = inside(sem);

    if (s->generation != fs_fork_generation())
        return 0;       /* the line is our parent's */
    return atomic_load_explicit(&s->waiters, memory_order_acquire);
}

bool fairsem_would_block(const fairsem_t *sem, int64_t n)
{
    struct fs_sem *s = inside(sem);
    int64_t word = atomic_load_explicit(&s->word, memory_order_acquire);
    int64_t available;
    bool answer;

    if (!count_valid(n) || n > s->limit)
        return false;
    if ((word & FS_SLOW) == 0)
        return n > fs_word_available(word);
    available = lock_line(s);
    answer = must_wait(s, available, n);
    serve_and_unlock(s, available);
    return answer;
}

/* ======================================================================== *
 *  The fast path: one compare-and-swap while SLOW is clear
 *
 *  It never says no.  It takes or gives what it plainly can and leaves the rest to a
 *  look under the mutex, so that every refusal is decided in one place.
 * ======================================================================== */

/* Acquire order: what the releaser of these units wrote before is ours to read. */
static bool take_fast(struct fs_sem *s, int64_t n)
{
    int64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);

    while ((word & FS_SLOW) == 0 && word >= 2 * n) {
        if (atomic_compare_exchange_weak_explicit(&s->word, &word, word - 2 * n,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

/*
 * Release order: what we wrote before belongs to whoever takes these units.  The
 * compare-and-swap is the last touch: from then on *s may be gone.
 */
static bool give_fast(struct fs_sem *s, int64_t n)
{
    int64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
    int64_t limit = atomic_load_explicit(&s->limit, memory_order_relaxed);

    while ((word & FS_SLOW) == 0 && n <= limit - fs_word_available(word)) {
        if (atomic_compare_exchange_weak_explicit(&s->word, &word, word + 2 * n,
                                                  memory_order_release, memory_order_relaxed))
            return true;
    }
    return false;
}

/* ======================================================================== *
 *  The contended path
 * ======================================================================== */

static int  wait_in_line(struct fs_sem *s, struct fs_waiter *w,
                         const struct fs_deadline *deadline);
static void adopt(struct fs_sem *s, unsigned generation);

/*
 * Take the mutex and, by setting SLOW, the word.  Returns the count, which until
 * serve_and_unlock() exists only in the caller's hands.
 *
 * Acquire order, for units that came by a fast release: that thread never took the
 * mutex, and a waiter granted from these units must see what it wrote.
 */
static int64_t lock_line(struct fs_sem *s)
{
    unsigned generation = fs_fork_generation();

    if (atomic_load_explicit(&s->generation, memory_order_acquire) != generation)
        adopt(s, generation);
    FS_MUST(pthread_mutex_lock(&s->mutex));
    return fs_word_available(atomic_fetch_or_explicit(&s->word, FS_SLOW, memory_order_acquire));
}

/* Threads to unpark after the unlock.  Unparking is slow; more than this at once are rare. */
struct wakes {
    int               count;
    struct fs_parker *parkers[64];
};

static void wake_all(struct wakes *wakes)
{
    for (int i = 0; i < wakes->count; i++)
        fs_unpark(wakes->parkers[i]);
    wakes->count = 0;
}

/*
 * Mutex held.  Tell a waiter that left the line what became of it, and note its thread
 * for waking.  The moment the state is stored the waiter may be gone (I8).
 *
 * Release order: a waiter that sees the state without taking the mutex must see what the
 * releasers of its units wrote; we have read that ourselves, in lock_line().  Acquire
 * order is not needed: PARKED was preceded by nothing we read.
 */
static void publish(struct fs_waiter *w, enum fs_waiter_state state, struct wakes *wakes)
{
    struct fs_parker *parker = w->parker;
    int before = atomic_exchange_explicit(&w->state, state, memory_order_release);

    if (before == FS_PARKED && parker != NULL) {
        /* Full: wake those noted so far with the mutex held.  It must not be dropped for
         * that: another thread might then serve the rest of the line, and the last one
         * served might destroy the semaphore under our feet (I9). */
        if (wakes->count == (int)(sizeof wakes->parkers / sizeof wakes->parkers[0]))
            wake_all(wakes);
        wakes->parkers[wakes->count++] = parker;
    }
}

/* Mutex held.  Take w out of the line. */
static void unlink_locked(struct fs_sem *s, struct fs_waiter *w)
{
    fs_waitq_leave(&s->line, &w->in_line);
    atomic_store_explicit(&s->waiters, s->waiters - 1, memory_order_release);
}

/*
 * The grant loop, and the only way out of the contended path: hand units to the head of
 * the line while its request fits, give the word back, drop the mutex, wake.
 *
 * The debit is in the word before the first grant is visible (I5): a waiter that returns
 * at once must not find its own units still free.
 */
static void serve_and_unlock(struct fs_sem *s, int64_t available)
{
    struct fs_waiter *granted = NULL, **last = &granted;
    struct wakes wakes;
    int64_t slow;

    while (!fs_waitq_empty(&s->line)) {
        struct fs_waiter *head = fs_waiter_of(s->line.first);

        if (head->units > available)
            break;
        available -= head->units;
        unlink_locked(s, head);
        *last = head;
        last = &head->next_granted;
    }
    *last = NULL;

    wakes.count = 0;    /* the array itself stays as it is: clearing it would cost more than a grant */
    slow = fs_waitq_empty(&s->line) ? 0 : FS_SLOW;
    /* Release order: for those who take units by the fast path from now on. */
    atomic_store_explicit(&s->word, available * 2 + slow, memory_order_release);
    while (granted != NULL) {
        struct fs_waiter *w = granted;

        granted = w->next_granted;
        publish(w, FS_GRANTED, &wakes);
    }
    FS_MUST(pthread_mutex_unlock(&s->mutex));
    wake_all(&wakes);
}

/* Mutex held.  Would a request for n units, coming now, have to stand in line? */
static bool must_wait(const struct fs_sem *s, int64_t available, int64_t n)
{
    return !fs_waitq_empty(&s->line) || n > available;
}

/*
 * Everything that takes units and did not find them on the fast path.  `refusal` is what
 * to return instead of waiting, or WAIT_IF_NEED_BE.
 *
 * A request that can be served at once is not a special case: it joins the line, is the
 * head, and the grant loop serves it on the way out.
 */
static int acquire_contended(struct fs_sem *s, int64_t n, int refusal,
                             const struct fs_deadline *deadline)
{
    struct fs_waiter self = { .units = n, .state = FS_QUEUED };
    int64_t available;
    int error = 0;

    if (refusal == WAIT_IF_NEED_BE)
        self.parker = fs_parker_self();     /* may allocate: before the mutex (I9) */

    available = lock_line(s);
    if (n > s->limit) {
        error = E2BIG;
    } else if (must_wait(s, available, n)) {
        if (refusal != WAIT_IF_NEED_BE) {
            error = refusal;
        } else if (s->max_waiters != 0 && s->waiters >= s->max_waiters) {
            error = ENOBUFS;
            s->refused++;
        }
    }
    if (error == 0) {
        fs_waitq_join(&s->line, &self.in_line, 0);
        atomic_store_explicit(&s->waiters, s->waiters + 1, memory_order_release);
    }
    serve_and_unlock(s, available);
    return error != 0 ? error : wait_in_line(s, &self, deadline);
}

static int64_t take_contended_upto(struct fs_sem *s, int64_t max)
{
    int64_t available = lock_line(s);
    int64_t n = 0;

    if (!must_wait(s, available, 1))
        n = available < max ? available : max;
    serve_and_unlock(s, available - n);
    return n;
}

static int release_contended(struct fs_sem *s, int64_t n)
{
    int64_t available = lock_line(s);
    int error = 0;

    if (n > s->limit - available) {
        error = EOVERFLOW;
        s->over_releases++;
        n = 0;
    }
    serve_and_unlock(s, available + n);
    return error;
}

/*
 * The one way out of the line for a waiter that gives up.  It may find that it was
 * granted a moment before.  A time-out then is a success, the units are its own; a
 * canceled thread cannot use them, and they go to the next in line.
 */
static int give_up(struct fs_sem *s, struct fs_waiter *w, enum fs_waiter_state why)
{
    int64_t available = lock_line(s);
    int state = atomic_load_explicit(&w->state, memory_order_relaxed);

    if (state == FS_PARKED) {
        unlink_locked(s, w);
        atomic_store_explicit(&w->state, why, memory_order_relaxed);
        state = why;
    } else if (why == FS_CANCELED) {
        available += w->units;
    }
    serve_and_unlock(s, available);
    return state;
}

struct canceled_wait {
    struct fs_sem    *sem;
    struct fs_waiter *waiter;
};

static void give_up_canceled(void *arg)
{
    struct canceled_wait *wait = arg;

    give_up(wait->sem, wait->waiter, FS_CANCELED);
}

/*
 * No mutex held, and w is in the line, or was and has been granted.  Sleep until the
 * state says that it is over.  Every time it still is not, the deadline is looked at
 * here: a park that returns early, for whatever reason, is only a reason to look again.
 */
static int wait_in_line(struct fs_sem *s, struct fs_waiter *w,
                        const struct fs_deadline *deadline)
{
    struct canceled_wait canceled = { s, w };
    int state = FS_QUEUED;

    /* Fails if we have been granted already.  Acquire order for that case: see publish(). */
    if (!atomic_compare_exchange_strong_explicit(&w->state, &state, FS_PARKED,
                                                 memory_order_acquire, memory_order_acquire))
        return 0;

    pthread_cleanup_push(give_up_canceled, &canceled);
    for (;;) {
        state = atomic_load_explicit(&w->state, memory_order_acquire);
        if (state == FS_PARKED && deadline != NULL && fs_deadline_passed(deadline))
            state = give_up(s, w, FS_EXPIRED);
        if (state != FS_PARKED)
            break;
        fs_park(w->parker, deadline);
    }
    pthread_cleanup_pop(0);
    return state == FS_GRANTED ? 0 : ETIMEDOUT;
}

/*
 * This process was forked since the semaphore was last used.  The threads in its line do
 * not exist here, and one of them may have held the mutex.  The count stays as it was.
 * SLOW may be left over; the caller's serve_and_unlock() sees to that.
 */
static void adopt(struct fs_sem *s, unsigned generation)
{
    fs_fork_lock();
    if (atomic_load_explicit(&s->generation, memory_order_relaxed) != generation) {
        s->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        s->line = (struct fs_waitq){ .next_ticket = s->line.next_ticket };
        atomic_store_explicit(&s->waiters, 0, memory_order_relaxed);
        atomic_store_explicit(&s->generation, generation, memory_order_release);
    }
    fs_fork_unlock();
}
