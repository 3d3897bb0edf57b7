/* SPDX-License-Identifier: MIT */
/*
 * system.h - cores and threads, beyond POSIX.  system_linux.c is empty except on Linux, system_generic.c is
 * empty on Linux.
 */
#ifndef FS_SYSTEM_H
#define FS_SYSTEM_H

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- Cores ---- */

/*
 * Returns the core on which this thread runs at this moment.  If the core is unknown, each call returns another
 * number, so that threads count as being on different cores.
 */
int fs_cpu_current(void);

/* In place of a core: a ticket has none. */
#define FS_NO_CORE INT16_MIN

/*
 * Returns the number of a core modulo 256, for hints only: core 256 and FS_NO_CORE have the same byte as
 * core 0.
 */
static inline uint8_t fs_core_byte(int core)
{
    return (uint8_t)core;
}

/*
 * Returns how many cores this process may use.  On Linux: the cores in the affinity mask of the main thread,
 * but at most the quota of the cgroup.  Mask and quota are read when the library is loaded, before the program
 * can bind the main thread to a core.  On other systems: the cores that are online.
 */
int fs_cpu_count(void);

/* With fewer cores, a waiting thread usually gets a core only when another thread yields. */
#define FS_MANY_CORES 4

/*
 * Is this thread time-shared with others of its priority?  False for SCHED_DEADLINE, and for SCHED_FIFO and
 * SCHED_RR, under which a yield lets no thread of a lower priority run.
 */
bool fs_cpu_is_time_shared(void);

/* Let the other threads of this core run first.  Returns false if a sandbox forbids the yield.  Keeps errno. */
static inline bool fs_cpu_yield(void)
{
    int error = errno;

    if (sched_yield() == 0)
        return true;
    errno = error;
    return false;
}

/* A hint to the processor: this loop waits for another core. */
static inline void fs_cpu_pause(void)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif defined(__GNUC__) && defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");   /* "yield" does nothing on most of these processors */
#endif
}

/* ---- Threads, for people who look at a semaphore ---- */

#define FS_THREAD_NAME 16       /* bytes, with the null character: the maximum of Linux */

/* Returns the kernel's number of this thread, as ps -L and debuggers show it, or 0. */
int fs_thread_id(void);

/* Store the name of a thread, or "" if the thread has no name or has ended. */
void fs_thread_name(int id, char name[FS_THREAD_NAME]);

/* ---- Real-time priorities, which few programs may use ---- */

/*
 * May a thread of this process have a real-time priority?  Makes at most two system calls, and none after
 * the first false result.
 */
bool fs_may_be_real_time(void);

#endif
