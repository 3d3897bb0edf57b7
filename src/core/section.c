/* SPDX-License-Identifier: MIT */
/*
 * section.c - the critical section of a semaphore: lock, grant loop, unlock.
 *
 * Each section has the same form.  fs_section_begin() locks the mutex and the word, and puts the count into
 * struct fs_section; the caller works on the count and on the queue.  The only way out is
 * fs_section_unlock(), directly or by fs_section_end().  Before the unlock, fs_section_unlock() grants the
 * front of the queue while the units suffice.  So no path can forget to grant (I2, I7), and one place
 * reserves the units of queued waiters (I5).
 *
 * A release need not wait for a section that takes returns: the release adds its units to the word, and the
 * section grants them.  At its end the section unlocks the word by a compare-and-swap, which fails if units
 * have come; then the section grants again.  So either the section sees the units, or the release sees that
 * the section is over, and begins a section itself.
 *
 * The invariants I1-I10 are in sem.h, the states of a waiter in waiter.h.
 */
#include "section.h"

#include "age.h"
#include "ahead.h"
#include "bypass.h"
#include "count.h"
#include "fast_path.h"
#include "queue.h"
#include "sem_check.h"
#include "system/fork.h"
#include "system/mutex.h"
#include "system/system.h"
#include "tools/annotate.h"
#include "tools/compiler.h"

#include <errno.h>

/* ======================================================================== *
 *  Lock, grant loop, unlock
 * ======================================================================== */

void fs_section_lock(struct fs_section *in, struct fs_sem *s)
{
    if ((s->options & FS_INTERRUPTIBLE) != 0)
        fs_block_signals(&in->after.signals);
    fs_fork_check(&s->generation, fs_sem_reset_in_child, s);
    fs_mutex_lock(&s->mutex);
    fs_note_holder(s, true);
    atomic_store_explicit(&s->in_section, true, memory_order_relaxed);
    in->sem = s;
    in->available = fs_word_lock(&s->word);
    in->takes_returns = false;
    in->now_ns = 0;
}

/*
 * A section takes no returns
 *   - if there is a debt: RETURNS needs a count that is not negative;
 *   - if the semaphore is closed: a release must find out whether the semaphore is retired (fast_path.h);
 *   - with bounded bypass: if units came after the front was woken to compete, the next round of the grant
 *     loop would grant that front directly;
 *   - if a ticket is queued: a release that adds units to a section returns before the section grants them.
 *     A claim after that return does not lock the mutex, and might not find the grant;
 *   - if a race detector watches the mutex.
 *
 * Release order: the store replaces words that other threads have stored, and a release that adds units to
 * the section must still see what those threads wrote before.
 */
void fs_section_take_returns(struct fs_section *in)
{
    struct fs_sem *s = in->sem;

    fs_assert_held(s);
    if (in->available < 0 || s->closed != 0 || (s->options & FS_BYPASS) != 0 || s->tickets != 0 || fs_instrumented)
        return;
    in->takes_returns = true;
    atomic_store_explicit(&s->word, fs_word_of(in->available, FS_CONTENDED + FS_RETURNS),
                          memory_order_release);
}

/* fs_grant(), inlined into fs_section_unlock(), because every hand-off passes through it. */
FS_ALWAYS_INLINE static bool grant(struct fs_section *in)
{
    struct fs_sem *s = in->sem;
    struct fs_waiter *front;
    bool granted = false;

    for (;;) {
        if ((s->options & FS_AGING) != 0)
            fs_age_note(in);
        front = fs_front(s);
        if (front == NULL || !fs_fits(s, in->available, front->units))
            break;
        if (s->closed != 0) {       /* after a close only drains wait, and a drain takes nothing */
            fs_dequeue(in, front, FS_BY_CLOSE);
            continue;
        }
        if ((s->options & FS_BYPASS) != 0 && fs_bypass_wake_front(in, front))
            return true;
        granted = true;
        fs_reserve(in, front->units);
        fs_dequeue(in, front, FS_BY_GRANT);
    }
    if (granted && front != NULL && (s->options & FS_NO_SPIN) == 0)
        fs_ahead_granted(in, front);
    return false;
}

bool fs_grant(struct fs_section *in)
{
    fs_assert_held(in->sem);
    return grant(in);
}

/*
 * A section grants again when units have come.  After this number of rounds the section clears RETURNS.  From
 * then on releases wait for the mutex, so they cannot prolong the section for ever.
 */
#if !defined(FS_ROUNDS_MAX)        /* the explorer defines a smaller number */
#define FS_ROUNDS_MAX 16
#endif

/*
 * Unlock the word.  Returns false if units have come, which are now in in->available.  competes: the front
 * is on its way to compete, so CONTENDED is cleared although the queue is not empty.
 *
 * Release order: for threads that take units on the fast path later.  Acquire order, if units have come: a
 * waiter that is granted them must see what their releasers wrote.
 */
FS_ALWAYS_INLINE static bool unlock_word(struct fs_section *in, bool competes, int round)
{
    struct fs_sem *s = in->sem;
    bool waits = s->waiters != 0 && !competes;
    bool contended = waits || fs_paused(s) || s->closed != 0 || fs_instrumented;
    int64_t word = fs_word_of(in->available, contended ? FS_CONTENDED : 0), before;

    fs_check_invariants(s, in->available, competes);
    if (!in->takes_returns) {
        atomic_store_explicit(&s->word, word, memory_order_release);
        return true;
    }
    before = fs_word_of(in->available, FS_CONTENDED + FS_RETURNS);
    if (atomic_compare_exchange_strong_explicit(&s->word, &before, word, memory_order_acq_rel,
                                                memory_order_acquire))
        return true;
    if (round == FS_ROUNDS_MAX) {
        before = atomic_fetch_sub_explicit(&s->word, FS_RETURNS, memory_order_acquire);
        in->takes_returns = false;
    }
    in->available = fs_word_available(before);
    in->now_ns = 0;             /* a waiter may have aged meanwhile */
    return false;
}

void fs_section_unlock(struct fs_section *in)
{
    struct fs_sem *s = in->sem;
    int round = 0;

    fs_assert_held(s);
    while (!unlock_word(in, grant(in), round))
        round++;
    fs_note_holder(s, false);
    atomic_store_explicit(&s->in_section, false, memory_order_relaxed);
    FS_MUST(pthread_mutex_unlock(&s->mutex));
}

void fs_section_begin(struct fs_section *in, struct fs_sem *s)
{
    fs_deferred_init(&in->after);
    fs_section_lock(in, s);
}

void fs_section_end(struct fs_section *in)
{
    fs_section_unlock(in);
    fs_deferred_run(&in->after);
}

/* ======================================================================== *
 *  Units that come back
 * ======================================================================== */

int fs_add_units(struct fs_section *in, int64_t n)
{
    int64_t room = in->sem->limit - in->available;

    fs_assert_held(in->sem);
    if (n > room) {
        fs_count_over_release(in->sem, n, room);
        return EOVERFLOW;
    }
    in->available += n;
    return 0;
}

/*
 * If these units exceed the limit, some thread has released units that it did not hold.  No call can return
 * EOVERFLOW to that thread now, so add as many units as fit.
 */
void fs_return_grant(struct fs_section *in, int64_t n)
{
    int64_t room = in->sem->limit - in->available;

    if (fs_add_units(in, n) != 0 && room > 0)
        in->available += room;
}

/*
 * Add n units to a section of another thread.  A section that does not take returns yet may do so soon, so
 * spin for a moment and try again.
 *
 * A thread with a real-time priority locks the mutex instead, so that the holder inherits the priority.
 * Units added to the section would wait until the holder runs.
 */
static bool add_to_section(struct fs_sem *s, int64_t n)
{
    /* Both loads are relaxed: hints. */
    for (int pauses = 1; pauses <= 16; pauses *= 2) {
        if (atomic_load_explicit(&s->word, memory_order_relaxed) >= FS_RETURNS) {
            if (fs_mutex_lends_priority())
                return false;
            if (fs_give(s, n, true))
                return true;
        }
        if (!atomic_load_explicit(&s->in_section, memory_order_relaxed))
            return false;
        for (int i = 0; i < pauses; i++)
            fs_cpu_pause();
    }
    return false;
}

int fs_release(struct fs_sem *s, int64_t n)
{
    struct fs_section in;
    int error;

    if (add_to_section(s, n))
        return 0;
    fs_section_begin(&in, s);
    error = s->closed == FS_RETIRED ? FS_RETIRED : fs_add_units(&in, n);
    fs_section_take_returns(&in);
    fs_section_end(&in);
    return error;
}
