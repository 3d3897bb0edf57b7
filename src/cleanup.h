/* SPDX-License-Identifier: MIT */
/*
 * cleanup.h - pthread_cleanup_push, for what must be cleaned up wherever its thread is canceled.
 *
 * To be included first, before <pthread.h>.
 *
 * With -fexceptions, glibc leaves the clean-up to the unwinder.  That costs nothing before, and
 * C++ exceptions clean up, too.  But on riscv and 32-bit arm the unwinder may stop in the middle
 * of a stack, and then the thread ends without: compilers make no tables for C there unless they
 * are told to, so users' functions have none, nor has glibc's syscall().  A wait that is not
 * cleaned up leaves a waiter in the queue whose stack is gone.  Without -fexceptions, glibc
 * remembers a place to jump to, and jumps there when the unwinder gives up.  That is better
 * there, at the price of exceptions: they must not pass such a clean-up.
 */
#ifndef FS_CLEANUP_H
#define FS_CLEANUP_H

#if defined(__riscv) || defined(__arm__)
#undef __EXCEPTIONS             /* how <pthread.h> knows */
#endif

#endif
