/* SPDX-License-Identifier: MIT */
/*
 * fairsem.c - fairsem @VERSION@ in one file: a fair, blocking, counting semaphore for multithreaded
 * C programs.  fairsem.h says what it promises, and how to use it.
 *
 *     cc -c fairsem.c
 *     cc -I. prog.c fairsem.o -pthread
 *
 * `make amalgamation` generates this file from the sources of fairsem; change the sources instead.  The file is
 * C11, and needs no other file and no configure.  Below, it detects which features of the system it can use.
 * These macros change the choice:
 *
 *     -DFAIRSEM_NO_SHARED      without the semaphores between processes, fairsem/shared.h (Linux)
 *     -DFAIRSEM_FUTEX=1        threads sleep on futexes, not on condition variables (Linux)
 *     -DFAIRSEM_VALGRIND=0     without annotations for helgrind and DRD (the default if the headers
 *                              of valgrind are not installed)
 *     -DFAIRSEM_PROBES=1       with static probes for perf, bpftrace and gdb (needs <sys/sdt.h>)
 *
 * If C++ exceptions leave a callback, or a function that fairsem_with calls, compile this file with
 * -fexceptions -fasynchronous-unwind-tables.
 *
 * @LICENSE@
 */

/*
 * For programs that are compiled with -Wconversion: the library stores enums in words that are int, and
 * clang's type of an enum is unsigned.
 */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif

/* ======================================================================== in place of configure */
#if !defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L
#error "fairsem needs C11"
#endif

/* These macros must be defined before the first header. */
#if defined(__linux__)
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#else
#if !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700
#endif
#undef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#undef _BSD_SOURCE
#define _BSD_SOURCE
#endif
/* If ThreadSanitizer is on, the library itself is compiled for it. */
#if !defined(FAIRSEM_WATCHED_)
#define FAIRSEM_WATCHED_ 0
#endif

#include <stdatomic.h>
#if ATOMIC_LLONG_LOCK_FREE != 2
#error "fairsem needs lock-free 64-bit atomics"
#endif

#if !defined(FAIRSEM_VALGRIND) && defined(__has_include)
#if __has_include(<valgrind/drd.h>) && __has_include(<valgrind/helgrind.h>)
#define FAIRSEM_VALGRIND 1
#endif
#endif
#if defined(FAIRSEM_VALGRIND) && FAIRSEM_VALGRIND
#include <valgrind/valgrind.h>
#if defined(CALL_FN_W_6W) && defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ >= 8
#define FS_HAS_VALGRIND 1
#endif
#endif

#if defined(FAIRSEM_PROBES) && FAIRSEM_PROBES
#define FS_HAS_PROBES 1
#endif

#if defined(FAIRSEM_FUTEX) && FAIRSEM_FUTEX
#if !defined(__linux__)
#error "FAIRSEM_FUTEX, but this is not Linux"
#endif
#define FS_FUTEX_BY_DEFAULT 1
#endif

#define FS_HAS_SHARED 0
#if defined(__linux__) && !defined(FAIRSEM_NO_SHARED)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
/* MFD_ALLOW_SEALING comes with memfd_create. */
#if defined(SYS_futex) && defined(O_TMPFILE) && defined(F_ADD_SEALS) && defined(MFD_ALLOW_SEALING)
#undef FS_HAS_SHARED
#define FS_HAS_SHARED 1
#endif
#endif

/* Some functions and a variable are used only by fairsem-run and the tests, which are not in this file. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#endif
