/* SPDX-License-Identifier: MIT */
/*
 * park.h - how a thread sleeps until another one wakes it: the parking contract.
 *
 * A parker belongs to one thread at a time.  It is never freed, only handed on to a later
 * thread when its own ends.  That is what allows a granter to unpark after it has dropped
 * every lock: by then the sleeper may have left, returned, even ended, and the worst the
 * late call can do is to wake whoever has the parker now once for nothing.
 *
 * The contract is as weak as the callers allow:
 *   - an unpark is remembered until the next park, which then does not sleep;
 *   - a park may return at any time for no reason.  It says nothing about why it returned:
 *     the caller looks at its own state and at the clock, and parks again.
 *
 * park_cond.c implements it with POSIX mutexes and condition variables.
 */
#ifndef FS_PARK_H
#define FS_PARK_H

#include "deadline.h"

struct fs_parker;

/* The parker of this thread.  NULL if memory is gone: such a thread can still park. */
struct fs_parker *fs_parker_self(void);

/*
 * Sleep until unparked or until the deadline (NULL: none).  With a NULL parker, which
 * nobody can unpark, sleep for a millisecond.  Cancellation point.
 */
void fs_park(struct fs_parker *self, const struct fs_deadline *deadline);

/* Wake the thread that has the parker.  Any thread; takes only the parker's own lock. */
void fs_unpark(struct fs_parker *parker);

#endif
