/* SPDX-License-Identifier: MIT */
/*
 * machine.h - what the library finds instead of the C library's clock and sleep (--wrap), and
 * instead of its own spinning, which would never end where no time passes.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <pthread.h>        /* any of the C library, which says then what it is */
#include <stdbool.h>

/* A sequence runs in this thread; else all calls go where they always go.  (libFuzzer has others.) */
extern _Thread_local bool machine_on;
extern int  machine_locks;      /* mutexes that are locked now */

/*
 * Can a stack be unwound as pthread_cancel does it?  Not with every C library, and not where the
 * library cleans up in another way (src/cleanup.h); and ThreadSanitizer loses its own account of the
 * stack.
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

bool machine_can_cancel(void);  /* the thread that runs, now */

/* The calls that are redirected: see tests/fuzz/local.mk and build.sh. */

#endif
