/* SPDX-License-Identifier: MIT */
/*
 * cleanup.h - pthread_cleanup_push, for clean-ups that must run wherever the thread is canceled.
 *
 * To be included first, before <pthread.h>.
 *
 * With -fexceptions, glibc leaves the clean-up to the unwinder.  The unwinder costs nothing in a wait
 * that is not canceled, and C++ exceptions run the clean-ups, too.  But on riscv and 32-bit arm,
 * compilers make unwind tables for C only on request: users' functions and glibc's syscall() have no
 * tables.  So the unwinder may stop in the middle of a stack.  The thread then ends without its
 * clean-ups, and its waiter stays in the queue after the stack is gone.
 *
 * Without -fexceptions, glibc stores a jump target, and jumps to it when the unwinder gives up.  So on
 * riscv and 32-bit arm, this header makes <pthread.h> believe that there are no exceptions.  On these
 * machines, and with musl, C++ exceptions must not pass a clean-up.
 */
#ifndef FS_CLEANUP_H
#define FS_CLEANUP_H

#if defined(__riscv) || defined(__arm__)
#undef __EXCEPTIONS             /* the macro that <pthread.h> looks at */
#endif

#endif
