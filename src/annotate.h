/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - what tools that look for races must be told: ThreadSanitizer, helgrind, DRD.
 *
 * They see the mutexes of a library that was not made for them, and not its atomics.  So a
 * pair of acquire and release on the fast path orders nothing for them, and they blame the
 * program for a race on what the semaphore protects.
 *
 * No program is to pay for that which is not watched.  Therefore nothing is added to the
 * fast path: where a tool watches, SLOW is set in every semaphore and stays (I3), so that
 * every call goes through the mutex, which all tools understand.  (FS_OPEN, another way past
 * the mutex, stays clear.)  What is left to annotate is the grant that a waiter sees without the
 * mutex.  Nothing is suppressed, and of the program only the objects themselves are hidden.
 *
 * SLOW is set by fairsem_init, and by FAIRSEM_INITIALIZER where the program is compiled with
 * -fsanitize=thread.  Under valgrind, which runs ordinary programs, it is set in a static
 * semaphore by the wrappers of the public functions, which only valgrind calls:
 * annotate_valgrind.c.
 *
 * Not here: a library that is itself compiled with -fsanitize=thread needs no annotations.
 */
#ifndef FS_ANNOTATE_H
#define FS_ANNOTATE_H

#include "annotate_valgrind.h"

#include <stdbool.h>

#if defined(__GNUC__) && !defined(FS_INSTRUMENTED)

/* Written when the library is loaded, r/o after.  Hidden: one instruction less for each load. */
extern bool fs_watched __attribute__((visibility("hidden")));

void fs_tell_before(const void *object);
void fs_tell_after(const void *object);

#else
enum { fs_watched = 0 };

static inline void fs_tell_before(const void *object)
{
    (void)object;
}

static inline void fs_tell_after(const void *object)
{
    (void)object;
}
#endif

/*
 * What comes before the first of these two is seen by a thread that comes after the second one, of
 * the same object: a waiter is completed, and its thread has found that it is.
 */
static inline void fs_annotate_before(const void *object)
{
    if (fs_watched)
        fs_tell_before(object);
}

static inline void fs_annotate_after(const void *object)
{
    if (fs_watched)
        fs_tell_after(object);
}

#endif
