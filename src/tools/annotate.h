/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - annotations for race detectors: ThreadSanitizer, helgrind, DRD.
 *
 * In a library that was not compiled for such a tool, the tool sees mutexes, but not atomics.  So to
 * the tool, a release and an acquire on the fast path order nothing, and the tool reports a race on the
 * data that the semaphore protects.
 *
 * Annotations on the fast path would cost every program.  Instead, under a tool, CONTENDED is always
 * set in every semaphore (I3): every call goes through the mutex, which all tools understand.  Only an
 * outcome that a waiter sees without the mutex needs an annotation.  No report is suppressed, and of the
 * program's memory, only objects of this library are hidden from a tool.
 *
 * fairsem_init sets CONTENDED, and so does FAIRSEM_INITIALIZER in a program compiled with
 * -fsanitize=thread.  Valgrind runs ordinary programs: there, wrappers of the public functions set
 * CONTENDED in a static semaphore (annotate_valgrind.c).
 *
 * A library that is itself compiled with -fsanitize=thread needs no annotations, and has none.
 */
#ifndef FS_ANNOTATE_H
#define FS_ANNOTATE_H

#include "tools/annotate_valgrind.h"
#include "tools/compiler.h"

#include <stdbool.h>

#if defined(FS_WEAK) && !defined(FS_INSTRUMENTED)

/* Written when the library is loaded, r/o after.  Hidden visibility saves an instruction for each load. */
extern FS_HIDDEN bool fs_instrumented;

/*
 * Call these functions only if fs_instrumented.  A thread calls fs_happens_before() just before it resolves a
 * waiter or ticket.  The thread that sees the waiter or ticket resolved calls fs_happens_after().
 */
void fs_happens_before(const void *object);
void fs_happens_after(const void *object);

#else
enum { fs_instrumented = 0 };

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
