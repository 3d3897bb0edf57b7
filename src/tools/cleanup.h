/* SPDX-License-Identifier: MIT */
/*
 * cleanup.h - pthread_cleanup_push, for clean-ups that must run wherever the thread is canceled.
 *
 * To be included first, before <pthread.h>.
 *
 * With -fexceptions, glibc leaves the clean-up to the unwinder.  That costs nothing in a wait that is
 * not canceled, and C++ exceptions run the clean-ups, too.  But on riscv and 32-bit arm compilers make
 * no unwind tables for C unless they are told to.  So there are none for users' functions, nor for
 * glibc's syscall(): the unwinder may stop in the middle of a stack, and the thread then ends without
 * running its clean-up handlers.  Its waiter would stay in the queue after its stack is gone.
 *
 * Without -fexceptions, glibc stores a place to jump to, and jumps there when the unwinder gives up.
 * So on these two machines this header makes <pthread.h> believe that there are no exceptions, and C++
 * exceptions must not pass such a clean-up.
 */
#ifndef FS_CLEANUP_H
#define FS_CLEANUP_H

#if defined(__riscv) || defined(__arm__)
#undef __EXCEPTIONS             /* the macro that <pthread.h> looks at */
#endif

#endif
