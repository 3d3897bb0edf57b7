/* SPDX-License-Identifier: MIT */
/* compiler.h - attributes of functions, types and variables, for compilers that know them. */
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
 * For a function that sleeps and may be canceled asynchronously.  The clean-up of its caller covers
 * calls only, so a link-time optimizer must not inline the function.
 */
#if defined(__GNUC__)
#define FS_NOT_INLINE __attribute__((noinline))
#else
#define FS_NOT_INLINE
#endif

/*
 * For a function that sleeps in syscall().  ThreadSanitizer gives a function a clean-up, which code of
 * gcc (12) enters with a wrong stack pointer if arguments of syscall() are on the stack.  The clean-up
 * of the caller is then skipped.
 */
#if defined(__SANITIZE_THREAD__)         /* gcc */
#define FS_NO_TSAN __attribute__((no_sanitize_thread))
#else
#define FS_NO_TSAN
#endif

/*
 * For a private type that is another view of a public one.  The compiler must know that a static
 * initializer of the public type may be read through the private one.
 */
#if defined(__GNUC__)
#define FS_MAY_ALIAS __attribute__((may_alias))
#else
#define FS_MAY_ALIAS
#endif

/*
 * For a function whose address is NULL in a program without it.  Only ELF has such symbols; macOS does
 * not.
 */
#if defined(__GNUC__) && defined(__ELF__)
#define FS_WEAK __attribute__((weak))
#endif

/*
 * For a function that runs when the library is loaded; with other compilers it must be called before
 * its work is needed.
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
 * For a thread-local variable.  If a library is loaded later, by dlopen(), glibc allocates its
 * variables at a thread's first access, and ends the process if there is no memory.  (musl does not
 * support this model then, but allocates them when the library is loaded.)
 */
#if defined(__GLIBC__)
#define FS_NEVER_ALLOCATED __attribute__((tls_model("initial-exec")))
#else
#define FS_NEVER_ALLOCATED
#endif

#endif
