/* SPDX-License-Identifier: MIT */
/*
 * machine.h - replaces the C library's clock and sleep (--wrap).  It also replaces fairsem's spinning, which
 * would never end because no time passes.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <pthread.h>        /* any header of the C library defines the library's name */
#include <stdbool.h>

/* Set in the thread that runs a sequence.  Calls of other threads, such as libFuzzer's, go to the C library. */
extern _Thread_local bool machine_on;
extern int  machine_locks;      /* number of locked mutexes */

/*
 * Can a stack be unwound as by pthread_cancel?  This needs a suitable C library, and a library that cleans up
 * by unwinding (src/tools/cleanup.h).  Not with ThreadSanitizer, which would lose track of the stack.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MACHINE_TSAN 1
#endif
#endif
#if defined(__EXCEPTIONS) && defined(__GLIBC__) && !defined(__SANITIZE_THREAD__) \
    && !defined(MACHINE_TSAN) && !defined(__riscv) && !defined(__arm__)
#define MACHINE_CAN_UNWIND 1
#else
#define MACHINE_CAN_UNWIND 0
#endif

bool machine_can_cancel(void);  /* can the running thread be canceled now? */

/* The calls that are redirected: see tests/search/fuzz/local.mk and build.sh. */

#endif
