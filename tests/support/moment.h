/* SPDX-License-Identifier: MIT */
/*
 * moment.h - a short pause in a loop that waits for other threads.
 *
 * The pause is a sleep, not a sched_yield(): on a busy machine each yield lets other programs compute for
 * 10 ms, but a thread that wakes from a sleep preempts them.
 */
#ifndef MOMENT_H
#define MOMENT_H

#include <errno.h>
#include <time.h>

#if defined(__linux__)
#include <sys/syscall.h>
long syscall(long number, ...); /* <unistd.h> has it only with _GNU_SOURCE */
#endif

/*
 * A system call, because nanosleep() is a cancellation point of the C library, and would not do even with
 * cancellation disabled.  glibc 2.36 cancels a thread in an asynchronous wait by a signal.  If the thread has
 * left the wait and sleeps in nanosleep() when the signal comes, glibc cancels it there.
 */
static inline void moment_sleep(void)
{
#if defined(SYS_nanosleep)
    const long nap[2] = { 0, 20000 };   /* the kernel's struct timespec, seconds and nanoseconds */

    syscall(SYS_nanosleep, nap, NULL);
#else
    const struct timespec nap = { .tv_nsec = 20000 };

    nanosleep(&nap, NULL);
#endif
}

/* Pause for half a microsecond; sleep in each 256th call.  Not a cancellation point; keeps errno. */
static inline void moment(void)
{
    static _Thread_local unsigned times;
    volatile int spin = 0;
    int error = errno;

    if (++times % 256 == 0)
        moment_sleep();
    else
        while (spin < 250)
            spin++;
    errno = error;
}

#endif
