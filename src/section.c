/* SPDX-License-Identifier: MIT */
/*
 * section.c - the critical section of a semaphore: lock, grant loop, unlock.
 *
 * It has one shape.  fs_lock() makes the word ours and returns the count; what follows works on
 * that number and on the queue; fs_grant_and_unlock() is the only way out, and it grants units to
 * the head of the queue for as long as they fit.  So no path can forget to grant (I2, I7), and
 * there is one place that debits a queued waiter (I5).
 *
 * The invariants I1-I10 are in sem.h, the states of a waiter in waiter.h.
 */
#include "section.h"

#include "annotate.h"
#include "cpu.h"
#include "fork.h"
#include "probes.h"
#include "sem_check.h"

#if defined(__GNUC__)
#define ALWAYS_INLINE __attribute__((always_inline)) inline
#else
#define ALWAYS_INLINE inline
#endif

/*
 * This process was forked since the semaphore was last used.  The threads in its queue do not
 * exist here, and one of them may have held the mutex.  The count stays, or is what an unfinished
 * resize must come to.  SLOW may be left over; the caller's fs_grant_and_unlock() clears it.
 */
static void reset_in_child(void *sem)
{
    struct fs_sem *s = sem;

    if (s->generation == FS_DESTROYED)
        fs_misused("a semaphore is used after fairsem_destroy");
    s->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    s->queue = (struct fs_waitq){ .next_seq = s->queue.next_seq };
    if (s->resizes % 2 != 0) {
        atomic_store_explicit(&s->word, (s->limit - *fs_in_use(s)) * 2 + FS_SLOW,
                              memory_order_relaxed);
        atomic_store_explicit(&s->resizes, s->resizes + 1, memory_order_relaxed);
    }
    /* Those who waited are in the parent: count them as cancels. */
    s->count.cancels = s->waits - s->grants - s->count.timeouts;
    s->head_since_ns = s->waiting_low = s->waiting_high = 0;
    s->tickets = 0;
    atomic_store_explicit(&s->waiters, 0, memory_order_relaxed);
}

/* For fs_assert_held(), in the test build. */
static void note_holder(struct fs_sem *s, bool held)
{
#if FS_CHECKED
    s->holder = held ? fs_this_thread() : 0;
#endif
    (void)s;
    (void)held;
}

/* ======================================================================== *
 *  Lock, grant loop, unlock
 * ======================================================================== */

/*
 * A section takes less time than to go to sleep and be woken: whoever finds another thread in it
 * tries again for a microsecond or two, and sleeps only then.  Two threads that hand units to each
 * other often meet here: without this a hand-off across cores took 0.22 us, or 0.9 us on an hour
 * when cache lines traveled slowly, and with it 0.14 and 0.7.
 */
static void lock_mutex(pthread_mutex_t *mutex)
{
    for (int pauses = 1; pauses <= 32; pauses *= 2) {
        if (pthread_mutex_trylock(mutex) == 0)
            return;
        for (int i = 0; i < pauses; i++)
            fs_cpu_pause();
    }
    FS_MUST(pthread_mutex_lock(mutex));
}

/*
 * Take the mutex and, by setting SLOW, the word.  Returns the count, which from now on the caller
 * keeps, until fs_grant_and_unlock().
 *
 * Acquire order, for units that came by a fast release: that thread never took the mutex, and a
 * waiter that is granted these units must see what it wrote.
 */
int64_t fs_lock(struct fs_sem *s, struct fs_deferred *deferred)
{
    int64_t word;

    if (s->interruptible && !deferred->signals.held)
        fs_hold_signals(&deferred->signals);
    fs_fork_check(&s->generation, reset_in_child, s);
    lock_mutex(&s->mutex);
    note_holder(s, true);
    word = atomic_fetch_or_explicit(&s->word, FS_SLOW, memory_order_acquire);
    if (word >= FS_OPEN)
        word = atomic_fetch_and_explicit(&s->word, ~FS_OPEN, memory_order_acquire);
    return fs_word_available(word);
}

/*
 * The grant loop: grant the head of the queue its units while its request fits, or wake it, if
 * it is to claim them.  Returns what is left.
 *
 * The debit is in the word before the grant is visible (I5): a waiter that returns at once
 * must not find its own units still free.  Release order: for fairsem_available(), which may load
 * it.
 *
 * Inlined into fs_grant_and_unlock(): every hand-off comes by there.
 */
ALWAYS_INLINE static int64_t grant(struct fs_sem *s, int64_t available, bool *woken_to_claim,
                                   struct fs_deferred *deferred)
{
    bool granted = false;

    *woken_to_claim = false;
    while (!fs_waitq_empty(&s->queue) && !fs_paused(s)) {
        struct fs_waiter *head = fs_waiter_of(s->queue.first);

        if (head->units > available)
            break;
        if (s->closed != 0) {       /* only fairsem_drain() waits now, and takes nothing */
            fs_leave(s, head, FS_CLOSED, deferred);
            continue;
        }
        *woken_to_claim = !fs_grants_directly(s, head, deferred);
        if (*woken_to_claim) {
            fs_wake_to_claim(s, head, deferred);
            break;
        }
        available -= head->units;
        atomic_store_explicit(&s->word, available * 2 + FS_SLOW, memory_order_release);
        fs_leave(s, head, FS_GRANTED, deferred);
        granted = true;
    }
    if (granted && !fs_waitq_empty(&s->queue))
        fs_wake_early(s, deferred);
    return available;
}

int64_t fs_grant(struct fs_sem *s, int64_t available, bool *woken_to_claim,
                 struct fs_deferred *deferred)
{
    fs_assert_held(s);
    return grant(s, available, woken_to_claim, deferred);
}

/*
 * The only way out of the section: grant, give the word back, drop the mutex.  Release order: for
 * threads that take units by the fast path later on.
 */
void fs_grant_and_unlock(struct fs_sem *s, int64_t available, struct fs_deferred *deferred)
{
    bool open, slow;

    fs_assert_held(s);
    available = grant(s, available, &open, deferred);
    fs_check_invariants(s, available, open);
    slow = !fs_waitq_empty(&s->queue) || fs_paused(s) || s->closed != 0;
    slow = slow || fs_watched;
    open = open && !fs_watched;
    note_holder(s, false);
    atomic_store_explicit(&s->word,
                          available * 2 + (slow ? FS_SLOW : 0) + (open ? FS_OPEN : 0),
                          memory_order_release);
    FS_MUST(pthread_mutex_unlock(&s->mutex));
}

/*
 * If these units no longer fit, a thread has released what it did not hold.  Nobody can be told; as
 * many go back as fit.
 */
void fs_regain(struct fs_sem *s, int64_t *available, int64_t n)
{
    int64_t room = s->limit - *available;

    fs_assert_held(s);
    if (n > room) {
        s->count.over_releases++;
        fs_probe_over_release(s, s->name, n, room);
        n = room > 0 ? room : 0;
    }
    *available += n;
}
