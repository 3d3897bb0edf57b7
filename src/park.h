/* SPDX-License-Identifier: MIT */
/*
 * park.h - how a thread sleeps until another one wakes it: the parking contract.
 *
 * A parker belongs to one thread at a time.  It is never freed, only handed on to a later
 * thread when its own ends.  That is what allows a granter to wake after it has dropped
 * every lock: by then the sleeper may have left, returned, even ended, and the worst the
 * late call can do is to wake whoever has the parker now once for nothing.
 *
 * The contract is as weak as the callers allow:
 *   - a wake is remembered until the next park, which then does not sleep;
 *   - a park may return at any time for no reason.  It says nothing about why it returned:
 *     the caller looks at its own state and at the clock, and parks again.
 *
 * There are two implementations.  park_cond.c, on POSIX mutexes and condition variables, is
 * what a thread sleeps on by default.  park_futex.c, for Linux, has no parkers: a thread
 * sleeps on the very word that says whether its wait is over.  It needs no memory, and a
 * signal handler can end the sleep, so semaphores with FAIRSEM_INTERRUPTIBLE use it; all
 * others do where configure --with-parker=futex has made it the default.
 */
#ifndef FS_PARK_H
#define FS_PARK_H

#include "deadline.h"

#include <stdatomic.h>
#include <stddef.h>

struct fs_parker;

/*
 * The parker of this thread, for one wait that begins now.  NULL if memory is gone: such a
 * thread can still park.
 */
struct fs_parker *fs_parker_self(void);

/*
 * Sleep until woken or until the deadline (NULL: none).  With a NULL parker, which nobody
 * can wake, sleep for a millisecond.  Cancellation point.
 */
void fs_park(struct fs_parker *self, const struct fs_deadline *deadline);

/*
 * Whom to wake when no semaphore's mutex is held, any number, without memory.  Parkers are
 * chained through themselves; those that are on another waker's chain already are listed.
 * Words die with the waits they belong to, so they can only be listed.  When a list is full
 * those on it are woken at once, with the mutex held.
 */
struct fs_wakes {
    struct fs_parker *first, *last;
    int               words, agains;
    struct fs_parker *again[8];
    const _Atomic int *word[32];
};

static inline void fs_wakes_init(struct fs_wakes *wakes)
{
    wakes->first = wakes->last = NULL;
    wakes->words = wakes->agains = 0; /* the list stays as it is: clearing it would cost more */
}

/* Note the parker of a thread that is parked, and whose wait cannot end unless it knows. */
void fs_wake_later(struct fs_wakes *wakes, struct fs_parker *parker);

/* Note a thread that sleeps on its word.  All words noted before have been changed. */
void fs_wake_word_later(struct fs_wakes *wakes, const _Atomic int *word);

/* Wake them, oldest first, with no semaphore's mutex held. */
void fs_wake_all(struct fs_wakes *wakes);

/*
 * park_futex.c.  Is there such a thing here?  And is it what semaphores use by default?
 */
#if defined(__linux__)
#define FS_HAS_FUTEX 1
#else
#define FS_HAS_FUTEX 0
#endif
#if !defined(FS_FUTEX_BY_DEFAULT)
#define FS_FUTEX_BY_DEFAULT 0
#endif

/*
 * Sleep while *word is `value`, until woken or until the deadline (NULL: none), or for no
 * reason.  Returns true if a signal handler has ended the sleep.  Cancellation point.
 */
bool fs_futex_park(const _Atomic int *word, int value, const struct fs_deadline *deadline);

/* Wake the thread that sleeps on the word, which may not exist any more. */
void fs_futex_wake(const _Atomic int *word);

/* In the child, after a fork, when there is only one thread: see fork.c. */
void fs_parkers_in_child(void);

#endif
