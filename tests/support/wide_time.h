/* SPDX-License-Identifier: MIT */
/*
 * wide_time.h - functions in the place of those of the system that take a time (the linker's
 * --wrap), where glibc has two of each.
 *
 * A 32-bit machine with -D_TIME_BITS=64 calls __clock_gettime64 when it says clock_gettime.  So the
 * linker is given both names, and the functions that it calls instead get theirs here.
 */
#ifndef WIDE_TIME_H
#define WIDE_TIME_H

#include <time.h>

#if defined(__USE_TIME_BITS64) && defined(__TIMESIZE) && __TIMESIZE == 32
#pragma redefine_extname __real_clock_gettime __real___clock_gettime64
#pragma redefine_extname __wrap_clock_gettime __wrap___clock_gettime64
#pragma redefine_extname __real_pthread_cond_timedwait __real___pthread_cond_timedwait64
#pragma redefine_extname __wrap_pthread_cond_timedwait __wrap___pthread_cond_timedwait64
#endif

#endif
