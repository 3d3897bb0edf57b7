/* SPDX-License-Identifier: MIT */
/* futex.h - which system call sleeps on a word. */
#ifndef FS_FUTEX_H
#define FS_FUTEX_H

#include <limits.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* If time_t is wider than long, the old call would misread the time. */
#if defined(SYS_futex_time64) && LONG_MAX == INT32_MAX
#define FS_FUTEX_CALL (sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex)
#else
#define FS_FUTEX_CALL SYS_futex
#endif

#endif
