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
 * park_cond.c implements it with POSIX mutexes and condition variables.
 */
#ifndef FS_PARK_H
#define FS_PARK_H

#include "deadline.h"

struct fs_parker;

/*
 * The parker of this thread, for one wait that begins now.  NULL if memory is gone: such a
 * thread can still park.  If the last wait was noticed to be over before its waker has come
 * by, wait for that: with no lock held, and not in a line.
 */
struct fs_parker *fs_parker_self(void);

/*
 * Sleep until woken or until the deadline (NULL: none).  With a NULL parker, which nobody
 * can wake, sleep for a millisecond.  Cancellation point.
 */
void fs_park(struct fs_parker *self, const struct fs_deadline *deadline);

/* Parkers to wake, any number, without memory: a chain through the parkers.  { 0 } is none. */
struct fs_wakes {
    struct fs_parker *first, *last;
};

/* Note the parker of a thread that is parked, and whose wait cannot end unless it knows. */
void fs_wake_later(struct fs_wakes *wakes, struct fs_parker *parker);

/* Wake them, oldest first, with no semaphore's mutex held. */
void fs_wake_all(struct fs_wakes *wakes);

/* In the child, after a fork, when there is only one thread: see fork.c. */
void fs_parkers_in_child(void);

#endif
