/* SPDX-License-Identifier: MIT */
/*
 * section.c - the critical section of a semaphore: lock, grant loop, unlock.
 *
 * It always has the same form.  fs_lock() gives this thread the word and returns the count; the
 * caller works on that number and on the queue; fs_grant_and_unlock() is the only way out, and it
 * grants units to the head of the queue as long as they fit.  So no path can forget to grant (I2,
 * I7), and there is one place that debits a queued waiter (I5).
 *
 * The invariants I1-I11 are in sem.h, the states of a waiter in waiter.h.
 */
#include "section.h"

#include "annotate.h"
#include "compiler.h"
#include "cpu.h"
#include "fork.h"
#include "mutex.h"
#include "probes.h"
#include "sem_check.h"

/*
 * This process was forked since the semaphore was last used.  The threads in its queue do not
 * exist here, and one of them may have held the mutex.  The count stays as it was, except that an
 * unfinished resize is completed.  SLOW may still be set; the caller's fs_grant_and_unlock() clears
 * it.
 */
static void reset_in_child(void *sem)
{
    struct fs_sem *s = sem;

    if (s->generation == FS_DESTROYED)
        fs_misused(s, "a semaphore is used after fairsem_destroy");
    fs_mutex_init(&s->mutex);
    s->queue = (struct fs_waitq){ .next_seq = s->queue.next_seq };
    if (s->resizing) {
        atomic_store_explicit(&s->word, (s->limit - *fs_in_use(s)) * 2 + FS_SLOW,
                              memory_order_relaxed);
        atomic_store_explicit(&s->resizing, false, memory_order_relaxed);
    }
    s->head_since_ns = 0;
    s->waiting_low = s->waiting_high = 0;
    s->tickets = 0;
    atomic_store_explicit(&s->waiters, 0, memory_order_relaxed);
    /* A copy of a section has no end.  Release order: whoever finds it even finds all the above. */
    atomic_store_explicit(&s->sections, s->sections + s->sections % 2, memory_order_release);
}

/*
 * At the begin and at the end of a section, so that the number is odd in between (I11).  Relaxed at
 * the begin: the section's own stores, in release order, come after it.
 */
static inline void count_section(struct fs_sem *s, memory_order order)
{
    uint32_t sections = atomic_load_explicit(&s->sections, memory_order_relaxed);

    atomic_store_explicit(&s->sections, sections + 1, order);
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
 * A section takes less time than going to sleep and being woken.  So if another thread holds the
 * mutex, this one tries again for a microsecond or two before it sleeps.  Two threads that hand
 * units to each other often meet here: without the retries a hand-off across cores took 0.22 us,
 * with them 0.14 us; at a time when cache lines were slow, 0.9 us and 0.7 us.
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
 * Take the mutex and, by setting SLOW, the word.  Returns the count; the caller keeps it until
 * fs_grant_and_unlock().
 *
 * Acquire order, for units that a thread released without the mutex: a waiter that is granted these
 * units must see what that thread wrote.  The first load may be relaxed: if SLOW is set already,
 * and OPEN is not, only holders of the mutex have changed the word since one of them set it (I3).
 */
int64_t fs_lock(struct fs_sem *s, struct fs_deferred *deferred)
{
    int64_t word;

    if (s->interruptible && !deferred->signals.held)
        fs_hold_signals(&deferred->signals);
    fs_fork_check(&s->generation, reset_in_child, s);
    lock_mutex(&s->mutex);
    note_holder(s, true);
    count_section(s, memory_order_relaxed);
    deferred->now_ns = 0;       /* a canceler of many waits has it from the last section */
    word = atomic_load_explicit(&s->word, memory_order_relaxed);
    if ((word & FS_SLOW) == 0)
        word = atomic_fetch_or_explicit(&s->word, FS_SLOW, memory_order_acquire);
    else if (word >= FS_OPEN)
        word = atomic_fetch_and_explicit(&s->word, ~FS_OPEN, memory_order_acquire);
    return fs_word_available(word);
}

/*
 * The grant loop: grant the head of the queue its units as long as its request fits, or wake it, if
 * it is to claim them.  Returns the units that are left.
 *
 * The debit is in the word before the grant is visible (I5): a waiter that returns at once
 * must not find its own units still free.  Release order: for fairsem_available(), which may load
 * the word.
 *
 * Inlined into fs_grant_and_unlock(), because every hand-off passes through it.
 */
FS_ALWAYS_INLINE static int64_t grant(struct fs_sem *s, int64_t available, bool *woken_to_claim,
                                   struct fs_deferred *deferred)
{
    bool granted = false;

    *woken_to_claim = false;
    for (;;) {
        struct fs_waitq_node *first = fs_head_now(s, deferred);
        struct fs_waiter *head;

        if (first == NULL)
            break;
        head = fs_waiter_of(first);
        if (!fs_fits(s, available, head->units))
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
        granted = true;
        available -= head->units;
        atomic_store_explicit(&s->word, available * 2 + FS_SLOW, memory_order_release);
        fs_leave(s, head, FS_GRANTED, deferred);
    }
    if (granted && !fs_waitq_empty(&s->queue))
        fs_wake_next(s, deferred);
    return available;
}

int64_t fs_grant(struct fs_sem *s, int64_t available, bool *woken_to_claim,
                 struct fs_deferred *deferred)
{
    fs_assert_held(s);
    return grant(s, available, woken_to_claim, deferred);
}

/*
 * The only way out of the section: grant, give the word back, unlock the mutex.  Release order: for
 * threads that take units on the fast path later.
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
    count_section(s, memory_order_release);
    FS_MUST(pthread_mutex_unlock(&s->mutex));
}

/*
 * If these units no longer fit, some thread has released units that it did not hold.  There is no
 * call that could return an error for this; as many units go back as fit.
 */
void fs_regain(struct fs_sem *s, int64_t *available, int64_t n)
{
    int64_t room = s->limit - *available;

    fs_assert_held(s);
    if (n > room) {
        fs_count_over_release(s, n, room);
        n = room > 0 ? room : 0;
    }
    *available += n;
}
