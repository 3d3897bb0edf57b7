/* SPDX-License-Identifier: MIT */
/*
 * cpu.h - what the machine says of its cores.  cpu_linux.c and cpu_generic.c are for one kind of
 * system each, and empty on all others.
 */
#ifndef FS_CPU_H
#define FS_CPU_H

#include <stdint.h>

/*
 * The core that this thread runs on, at this moment.  Where nothing says it, a number that differs
 * from each other call's: threads count as being on different cores.
 */
int fs_cpu_current(void);

/* No core: that of a ticket. */
#define FS_NO_CORE INT16_MIN

/*
 * The cores that this process may use: those of its main thread when the library was loaded, so
 * before the program can have bound it to one of them.
 */
int fs_cpu_count(void);

/* In a loop that waits for another core. */
static inline void fs_cpu_pause(void)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif defined(__GNUC__) && defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");   /* "yield" does nothing on most of them */
#endif
}

#endif
