/* SPDX-License-Identifier: MIT */
/*
 * wide_time.h - names for replacements (the linker's --wrap) of system functions that take a time.  On a 32-bit
 * machine, glibc has two of each, for 32 and 64 bits.
 *
 * With -D_TIME_BITS=64, a call of clock_gettime in a source becomes a call of __clock_gettime64.  The linker
 * wraps both names, and this file renames the replacements in the same way.
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
