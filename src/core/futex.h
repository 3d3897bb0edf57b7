/* SPDX-License-Identifier: MIT */
/* futex.h - the system call that sleeps on a word, and the kernel's own clocks. */
#ifndef FS_FUTEX_H
#define FS_FUTEX_H

#include <limits.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* If time_t is wider than long, the old calls would misread the time. */
#if defined(SYS_futex_time64) && LONG_MAX == INT32_MAX
#define FS_FUTEX_CALL (sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex)
#define FS_CLOCK_CALL (sizeof(time_t) > sizeof(long) ? SYS_clock_gettime64 : SYS_clock_gettime)
#else
#define FS_FUTEX_CALL SYS_futex
#define FS_CLOCK_CALL SYS_clock_gettime
#endif

#endif
