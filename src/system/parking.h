/* SPDX-License-Identifier: MIT */
/*
 * parking.h - how a thread sleeps until another one wakes it: the parking contract.
 *
 * A thread parks with a word and the value that the word has until the wait is over.  The waker first
 * changes the word and then unparks the thread, usually with no lock held.  By then the thread may have
 * seen the change, returned, and even ended.  So a late unpark may wake another thread once for no reason;
 * nothing worse can happen.
 *
 * The contract:
 *   - after the word has changed and the thread was unparked, a park does not sleep;
 *   - a park may return at any time for no reason.  So the caller loads its word, reads the clock, and
 *     parks again.
 *
 * A thread sleeps on a condition variable of its own parker (park_cond.c).  A parker is never freed: when
 * its thread ends, a later thread gets the parker.  In waits for a semaphore with FAIRSEM_INTERRUPTIBLE, and
 * under valgrind, a thread sleeps on its word (park_futex.c, for Linux).
 */
#ifndef FS_PARKING_H
#define FS_PARKING_H

#include "system/deadline.h"
#include "system/system.h"
#include "tools/annotate.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__linux__)
#define FS_HAS_FUTEX 1
#else
#define FS_HAS_FUTEX 0
#endif

/* The part of a thread's parker that the wake queue uses; the rest is in park_cond.c. */
struct fs_parker {
    _Atomic bool      queued;   /* set by a waker; cleared when the thread has been woken */
    int               thread;   /* fs_thread_id(); r/o while the thread lives */
    struct fs_parker *next;     /* while queued: next parker in the waker's wake queue */
};

/* How a thread sleeps in one wait. */
struct fs_parking {
    struct fs_parker *parker;   /* NULL if on_word, or if the thread has no parker and polls */
    bool              on_word;  /* the thread sleeps on the word: park_futex.c */
    int               thread;   /* fs_thread_id(), if on_word */

    /* Written by the last waker, before it changes the word. */
    bool              in_wake_queue;   /* the parker is in the waker's wake queue until parker->queued is false */
    int64_t           woken_ns; /* when the waker decided to wake this thread */
};

/* ---- park_cond.c ---- */

/* Returns this thread's parker, or NULL if resources are lacking, or while the process ends. */
struct fs_parker *fs_parker_self(void);

/*
 * Sleep until unparked, at most until the deadline.  If `self` is NULL, the calling thread cannot be unparked,
 * so sleep for a millisecond, whatever the deadline.  Cancellation point.
 */
void fs_park_on_cond(struct fs_parker *self, const struct fs_deadline *deadline);

/* Wake the thread of this parker.  leaves_queue: the parker also leaves the caller's wake queue. */
void fs_unpark(struct fs_parker *parker, bool leaves_queue);

/* ---- park_futex.c ---- */

/*
 * Sleep while *word is `value`, at most until the deadline.  Returns true if a signal handler has ended the
 * sleep.  Cancellation point.
 */
bool fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline);

/* Wake the thread that sleeps on this word.  The word may no longer exist. */
void fs_unpark_word(const _Atomic int *word);

/* ---- Either ---- */

/*
 * Choose how to sleep.  May allocate memory, so the caller must hold no mutex (I9).  Under valgrind the thread
 * sleeps on a word: valgrind's tools report a condition variable that is signaled after the unlock.
 */
static inline void fs_parking_begin(struct fs_parking *parking, bool interruptible)
{
    parking->in_wake_queue = false;
    parking->on_word = FS_HAS_FUTEX && (interruptible || fs_under_valgrind);
    if (parking->on_word) {
        parking->parker = NULL;
        parking->thread = fs_thread_id();
    } else {
        parking->parker = fs_parker_self();
    }
}

/* Returns fs_thread_id() of the thread that parks, or 0 if unknown. */
static inline int fs_parking_thread(const struct fs_parking *parking)
{
    if (parking->on_word)
        return parking->thread;
    return parking->parker != NULL ? parking->parker->thread : 0;
}

/*
 * Sleep while *word is `value`, at most until unparked or until the deadline.  Returns true if a signal
 * handler has ended a sleep on the word.  Cancellation point.
 */
static inline bool fs_park(const struct fs_parking *parking, const _Atomic int *word, int value,
                           const struct fs_deadline *deadline)
{
    if (parking->on_word)
        return fs_park_on_word(word, value, deadline);
    fs_park_on_cond(parking->parker, deadline);
    return false;
}

#endif
