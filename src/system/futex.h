/* SPDX-License-Identifier: MIT */
/* futex.h - the system calls for sleeping on a word, and for reading the kernel's clocks. */
#ifndef FS_FUTEX_H
#define FS_FUTEX_H

#include "tools/compiler.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* From <linux/futex.h>, a kernel header.  Some C libraries are installed without the kernel's headers. */
#define FS_FUTEX_WAIT (0 | 128)         /* FUTEX_WAIT_PRIVATE */

/* Newer 32-bit architectures (riscv32) have only the calls with a 64-bit time_t. */
#if !defined(SYS_futex)
#define SYS_futex SYS_futex_time64
#endif
#if !defined(SYS_clock_gettime)
#define SYS_clock_gettime SYS_clock_gettime64
#endif

/* If time_t is wider than long, the old calls would misread a timespec. */
#if defined(SYS_futex_time64) && LONG_MAX == INT32_MAX
#define FS_FUTEX_CALL (sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex)
#define FS_CLOCK_CALL (sizeof(time_t) > sizeof(long) ? SYS_clock_gettime64 : SYS_clock_gettime)
#else
#define FS_FUTEX_CALL SYS_futex
#define FS_CLOCK_CALL SYS_clock_gettime
#endif

/*
 * Sleep while *word is `value`.  `time` is the length of the longest sleep or the end of the sleep, depending
 * on `op`; NULL means no limit.  Returns 0, or -1 with an error in errno.
 *
 * A kernel before 5.1 has only the old call, with a 32-bit time_t, so a larger `time` is cut to the largest
 * 32-bit one.  The caller reads its clock again, so an early return does no harm.
 */
FS_NO_TSAN
static inline long fs_futex_wait(const _Atomic int *word, int op, int value, const struct timespec *time,
                                 unsigned bits)
{
    long result = syscall(FS_FUTEX_CALL, word, op, value, time, NULL, bits);

    if (result != 0 && errno == ENOSYS && FS_FUTEX_CALL != SYS_futex) {
        long narrow[2] = { 0, 0 };

        if (time != NULL) {
            narrow[0] = time->tv_sec > LONG_MAX ? LONG_MAX : (long)time->tv_sec;
            narrow[1] = (long)time->tv_nsec;
        }
        result = syscall(SYS_futex, word, op, value, time != NULL ? narrow : NULL, NULL, bits);
    }
    return result;
}

#endif
