/* SPDX-License-Identifier: MIT */
/* compiler.h - what compilers are told about functions, types and variables, where they know it. */
#ifndef FS_COMPILER_H
#define FS_COMPILER_H

#include <limits.h>     /* any header of the C library says whether it is glibc */

#if defined(__GNUC__)
#define FS_ALWAYS_INLINE __attribute__((always_inline)) inline
#define FS_HIDDEN __attribute__((visibility("hidden")))
#else
#define FS_ALWAYS_INLINE inline
#define FS_HIDDEN
#endif

/*
 * For a function that sleeps and may be canceled asynchronously: the caller's clean-up covers only
 * calls, so a link-time optimizer must not inline it.
 */
#if defined(__GNUC__)
#define FS_NOT_INLINE __attribute__((noinline))
#else
#define FS_NOT_INLINE
#endif

/*
 * For one that sleeps in syscall().  ThreadSanitizer gives a function a clean-up, which gcc (12) enters
 * with a wrong stack pointer if arguments of syscall() are on the stack: the caller's is then skipped.
 */
#if defined(__SANITIZE_THREAD__)         /* gcc */
#define FS_NO_TSAN __attribute__((no_sanitize_thread))
#else
#define FS_NO_TSAN
#endif

/*
 * For a private type that is another view of a public one.  The compiler must not assume that a
 * static initializer of the one is not read through the other.
 */
#if defined(__GNUC__)
#define FS_MAY_ALIAS __attribute__((may_alias))
#else
#define FS_MAY_ALIAS
#endif

/* For a function that is NULL in a program without it.  Only ELF has such names: macOS does not. */
#if defined(__GNUC__) && defined(__ELF__)
#define FS_WEAK __attribute__((weak))
#endif

/* For a function that runs when the library is loaded, or else before its work is needed. */
#if defined(__GNUC__)
#define FS_WHEN_LOADED __attribute__((constructor))
#else
#define FS_WHEN_LOADED
#endif

/*
 * For a function that a clean-up calls.  An asynchronous cancellation ends a sleep on a futex, and
 * musl (1.2.3) then runs the clean-up handlers with a stack that is not aligned as the x86 ABI
 * requires.
 */
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define FS_REALIGN_STACK __attribute__((force_align_arg_pointer))
#else
#define FS_REALIGN_STACK
#endif

/*
 * For a thread's variable.  glibc allocates those of a library that was loaded later at a thread's
 * first access, and ends the process if there is no memory.  (musl, where this model is then not
 * possible, allocates them when the library is loaded.)
 */
#if defined(__GLIBC__)
#define FS_NEVER_ALLOCATED __attribute__((tls_model("initial-exec")))
#else
#define FS_NEVER_ALLOCATED
#endif

#endif
