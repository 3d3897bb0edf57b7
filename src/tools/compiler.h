/* SPDX-License-Identifier: MIT */
/* compiler.h - attributes of functions, types and variables, for compilers that know them. */
#ifndef FS_COMPILER_H
#define FS_COMPILER_H

#include <limits.h>     /* defines __GLIBC__, like any header of glibc */

#if defined(__GNUC__)
#define FS_ALWAYS_INLINE __attribute__((always_inline)) inline
#define FS_HIDDEN __attribute__((visibility("hidden")))
#else
#define FS_ALWAYS_INLINE inline
#define FS_HIDDEN
#endif

/*
 * For a function that sleeps and may be canceled asynchronously.  A link-time optimizer must not inline
 * the function: the clean-up of a caller covers calls, but not inlined code.
 */
#if defined(__GNUC__)
#define FS_NOT_INLINE __attribute__((noinline))
#else
#define FS_NOT_INLINE
#endif

/*
 * For a function that sleeps in syscall().  For ThreadSanitizer, gcc (12) adds a clean-up to a function.
 * If arguments of syscall() are on the stack, that clean-up starts with a wrong stack pointer, and the
 * caller's clean-up is skipped.
 */
#if defined(__SANITIZE_THREAD__)         /* gcc */
#define FS_NO_TSAN __attribute__((no_sanitize_thread))
#else
#define FS_NO_TSAN
#endif

/*
 * For a private type that is a view of a public type: a static initializer of the public type may be
 * read through the private type.
 */
#if defined(__GNUC__)
#define FS_MAY_ALIAS __attribute__((may_alias))
#else
#define FS_MAY_ALIAS
#endif

/*
 * For a function whose address is NULL in a program that lacks the function.  Only ELF has such symbols.
 */
#if defined(__GNUC__) && defined(__ELF__)
#define FS_WEAK __attribute__((weak))
#endif

/*
 * For a function that runs when the library is loaded.  With other compilers, the function must be
 * called before its work is needed.
 */
#if defined(__GNUC__)
#define FS_WHEN_LOADED __attribute__((constructor))
#else
#define FS_WHEN_LOADED
#endif

/*
 * For a function that a clean-up calls.  After an asynchronous cancellation, which can end a sleep on a
 * futex, musl (1.2.3) runs the clean-up handlers with a stack that is not aligned as the x86 ABI
 * requires.
 */
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define FS_REALIGN_STACK __attribute__((force_align_arg_pointer))
#else
#define FS_REALIGN_STACK
#endif

/*
 * For a thread-local variable: no access allocates memory (the initial-exec model).  By default, glibc
 * allocates the variables of a dlopen()ed library at a thread's first access, and ends the process if there
 * is no memory.  (musl does not support the initial-exec model with dlopen(), but allocates the variables
 * when the library is loaded.)
 */
#if defined(__GLIBC__)
#define FS_NEVER_ALLOCATED __attribute__((tls_model("initial-exec")))
#else
#define FS_NEVER_ALLOCATED
#endif

#endif
