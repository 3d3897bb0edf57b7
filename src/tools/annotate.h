/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - annotations for race detectors: ThreadSanitizer, helgrind, DRD.
 *
 * These tools see the mutexes of a library that was not compiled for them, but not its atomics.  So to
 * the tools an acquire and a release on the fast path order nothing, and they report a race on the data
 * that the semaphore protects.
 *
 * A program that is not watched must not pay for this, so nothing is added to the fast path.
 * Instead, where a tool watches, CONTENDED is always set in every semaphore (I3), and every call goes
 * through the mutex, which all tools understand.  Only a grant that a waiter sees without the
 * mutex needs an annotation.  Nothing is suppressed, and of the program's memory only the objects of
 * this library are hidden.
 *
 * CONTENDED is set by fairsem_init, and by FAIRSEM_INITIALIZER where the program is compiled with
 * -fsanitize=thread.  Under valgrind, which runs ordinary programs, it is set in a static
 * semaphore by the wrappers of the public functions, which only valgrind calls:
 * annotate_valgrind.c.
 *
 * A library that is itself compiled with -fsanitize=thread needs no annotations, and has none.
 */
#ifndef FS_ANNOTATE_H
#define FS_ANNOTATE_H

#include "tools/annotate_valgrind.h"
#include "tools/compiler.h"

#include <stdbool.h>

#if defined(FS_WEAK) && !defined(FS_INSTRUMENTED)

/* Written when the library is loaded, r/o after.  Hidden: one instruction less for each load. */
extern FS_HIDDEN bool fs_watched;

/*
 * Only if fs_watched.  fs_happens_before() happens before a later fs_happens_after() of the same
 * object.  The first is called when a waiter is resolved, the second when its thread sees that.
 */
void fs_happens_before(const void *object);
void fs_happens_after(const void *object);

#else
enum { fs_watched = 0 };

static inline void fs_happens_before(const void *object)
{
    (void)object;
}

static inline void fs_happens_after(const void *object)
{
    (void)object;
}
#endif

#endif
